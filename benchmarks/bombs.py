"""What a learner's output, text, picture or attachment that is made to cost much adds to a class's run, beside a control.

    python -m benchmarks.bombs                     a class of 8, three times: without one, then with each kind
    python -m benchmarks.bombs --rounds 1 --only blank_lines

One learner's notebook is another one in each run, and all else is the same. CPU seconds are those of all processes of the
run; the memory is that of the process which reads all notebooks: what its own bounds do not bound shows there. A learner's
own sealed process may take what the limits give.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

from benchmarks.resume import SEED, command, make_class

LESSON = "01_module_anatomy"
MOST_SECONDS, MOST_MB = 2.0, 100.0


def _png(side: int) -> bytes:
    """A black picture of side x side pixels, which is small as long as nobody unpacks it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer, row = zlib.compressobj(9), bytes(side + 1)
    data = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def _shows(mime: str, made: str) -> str:
    return f"from IPython.display import display\nfor _ in range(5): display({{{mime!r}: {made}}}, raw=True)"


_HTML = "'<p>' + ''.join(f'<b a={i:x}>' for i in range(1000)) + '<p>x' * 2400"


def html(book: Any) -> None:
    """Each <p> closes all open <b>, each x opens them again."""
    book.cells.append(nbformat.v4.new_code_cell(_shows("text/html", _HTML)))


def markdown(book: Any) -> None:
    """Marks and brackets that each may close any other: shown, and written into a Markdown cell."""
    book.cells.append(nbformat.v4.new_code_cell(_shows("text/markdown", "'*a_[' * 40000 + '$' * 20000")))
    book.cells.append(nbformat.v4.new_markdown_cell("*a_[" * 40_000 + "> " * 40_000 + "`" * 9_999))


def blank_lines(book: Any) -> None:
    """In each TODO cell, blank lines with a tab; behind them all a cell with a magic, of which IPython reads each line."""
    blank = "\n\t" * 100_000 + "\n#" * 50_000
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code":
            cell.source += blank
    book.cells.append(nbformat.v4.new_code_cell("%time 1" + blank))


def picture(book: Any) -> None:
    """400 million pixels in half a megabyte: shown, and attached."""
    data = base64.b64encode(_png(20_000)).decode()
    book.cells.append(nbformat.v4.new_code_cell(f"data = {data!r}\n" + _shows("image/png", "data")))
    attached = nbformat.v4.new_markdown_cell("![](x.png)")
    attached["attachments"] = {"x.png": {"image/png": data}}
    book.cells.append(attached)


def attachment(book: Any) -> None:
    """60 MB beside a text."""
    one = nbformat.v4.new_markdown_cell("![](x.png)")
    one["attachments"] = {"x.png": {"image/png": "A" * 60_000_000}}
    book.cells.append(one)


BOMBS: dict[str, Callable[[Any], None]] = {
    one.__name__: one for one in (html, markdown, blank_lines, picture, attachment)
}


def cost(folder: Path, bomb: Callable[[Any], None] | None) -> tuple[float, float]:
    """CPU seconds of a run over the class with this bomb, and megabytes that its own process took at most."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    make_class(folder, LESSON, 8, SEED)
    if bomb is not None:
        path = min(folder.glob("submitted/*/*/*.ipynb"))
        book = nbformat.read(path, 4)
        bomb(book)
        nbformat.write(book, path)
    before = os.times()
    with subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        peak = 0
        while run.poll() is None:
            told = Path(f"/proc/{run.pid}/status").read_text(encoding="ascii")
            peak = max([peak, *map(int, re.findall(r"VmHWM:\s*(\d+)", told))])
            time.sleep(0.05)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system, peak / 1024


def main() -> int:
    """0 where no kind costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--only", action="append", choices=list(BOMBS), help="this kind only (may be given again)")
    arguments = parser.parse_args()
    kinds = [None, *(BOMBS[name] for name in arguments.only or BOMBS)]
    found: dict[Any, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as place:
        for _ in range(arguments.rounds):
            for kind in kinds:
                found[kind].append(cost(Path(place) / "class", kind))
                seconds, mb = found[kind][-1]
                print(f"{kind.__name__ if kind else 'control':12} {seconds:6.1f} s of CPU {mb:6.0f} MB", flush=True)
    control = [statistics.median(one) for one in zip(*found[None], strict=True)]
    broken = 0
    for kind in kinds[1:]:
        more = [
            statistics.median(one) - usual for one, usual in zip(zip(*found[kind], strict=True), control, strict=True)
        ]
        broken += more[0] > MOST_SECONDS or more[1] > MOST_MB
        print(f"{kind.__name__ if kind else '':12} {more[0]:+6.1f} s {more[1]:+6.0f} MB beside the control")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
