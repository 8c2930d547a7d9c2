"""What is asked of a run: no marks gained, neighbours untouched, nothing seen, limits held, nothing that runs in a page.

Nothing seen: whatever a learner was handed is read in every way, plain, backwards, in hex or base64, compressed.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import contextlib
import io
import json
import lzma
import re
import struct
import zlib
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from nbproof.authoring.secret_lines import text_of_page
from nbproof.feedback.page import page_of
from nbproof.feedback.pages import task_of
from nbproof.key import Key
from nbproof.marking.blueprint import OWN, Blueprint, read_blueprint
from nbproof.places import course_config
from tests import COURSE
from tests.attacks.arsenal import Attack
from tests.attacks.assault import LIMITS, MARKER, NEIGHBOURS, Outcome, canaries_in
from tests.feedback.page_rules import what_runs

_MOST = 2_000_000
_RUN = re.compile(r"[A-Za-z0-9+/=_-]{12,}")
_WIDE = re.compile(r"(?:\b\d{5,8}\.?[\],;\s\[]+){3,}\d{5,8}")
"""Numbers that hold three letters each."""
_NUMBERS = re.compile(r"(?:\b\d{1,3}(?:\.0*)?[,;\s]+){8,}\d{1,3}")


def leaked(texts: Collection[str], pictures: Collection[bytes], lines: Collection[str]) -> list[str]:
    """Which of these secret lines stand in the texts, or in the pictures, however they were written."""
    wanted = {bare: line for line in lines if len(bare := _bare(line)) >= 12}
    found: dict[str, None] = {}
    runs = [run for text in texts for run in _RUN.findall(text)]
    # Short ones stand between the parts of a text that came out in parts.
    together = ["".join(run for run in runs if len(run) >= least) for least in (12, 100)]
    for reading in _all_readings([*texts, *together], pictures):
        even = _bare(reading)
        found.update({line: None for bare, line in wanted.items() if bare in even})
        if len(found) == len(wanted):
            break
    return list(found)


def _bare(text: str) -> str:
    """Without blanks and quotes: source that went through ``ast.unparse`` has others."""
    return re.sub(r"[\s'\"\\]+", "", text)


def _all_readings(texts: Collection[str], pictures: Collection[bytes]) -> Iterator[str]:
    for text in texts:
        yield from readings(text.encode("utf-8", "replace"))
    for picture in pictures:
        with contextlib.suppress(Exception):
            yield from readings(_pixels(picture))


def readings(data: bytes, depth: int = 2) -> Iterator[str]:
    """What these bytes may say."""
    for one in (data, data[::-1]):
        text = one[:_MOST].decode("utf-8", "replace")
        yield text
        yield "".join(text.split("\0"))
        if depth:
            for inner in _inside(one, text):
                yield from readings(inner, depth - 1)


def _inside(data: bytes, text: str) -> Iterator[bytes]:
    for open_ in (_unzipped, bz2.decompress, lzma.decompress):
        yield from _tried(open_, data)
    if len(data) % 4 == 0:
        numbers = struct.unpack(f"<{len(data) // 4}f", data)
        yield bytes(int(number) for number in numbers if number.is_integer() and 0 <= number < 256)
    runs = list(dict.fromkeys(_RUN.findall(text)))[:200]
    for run in runs:
        yield from _tried(bytes.fromhex, run)
        yield from _tried(_from_base64, run)
    for run in list(dict.fromkeys(_NUMBERS.findall(text)))[:50]:
        numbers = [int(float(number)) for number in re.findall(r"\d+(?:\.\d*)?", run)]
        yield bytes(number for number in numbers if number < 256)
    for run in list(dict.fromkeys(_WIDE.findall(text)))[:50]:
        yield b"".join(int(number).to_bytes(4, "big").lstrip(b"\0") for number in re.findall(r"\d+", run))


def _tried(decode: Callable[..., bytes], what: object) -> Iterator[bytes]:
    with contextlib.suppress(ValueError, OSError, EOFError, zlib.error, lzma.LZMAError, binascii.Error):
        made = decode(what)
        if len(made) >= 8:
            yield made[:_MOST]


def _from_base64(run: str) -> bytes:
    even = run.rstrip("=")
    return base64.b64decode(even[: len(even) - (len(even) % 4 == 1)] + "=" * (-len(even) % 4), altchars=None)


def _unzipped(data: bytes) -> bytes:
    """As far as it goes: a stream that is cut off has said most of it."""
    try:
        return zlib.decompressobj(47).decompress(data, _MOST)
    except zlib.error:
        return zlib.decompressobj(-15).decompress(data, _MOST)


def _pixels(picture: bytes) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as image:
        return image.convert("L").tobytes()


_SHOWN = ("html", "evidence", "secrets")


def status_of(outcome: Outcome, attack: Attack) -> str:
    """How the attacked exercise ended."""
    if attack.name not in outcome.verdicts:
        return "not graded"
    return str(outcome.exercise(attack.name, attack.exercise)["status"])


def told(outcome: Outcome, attack: Attack) -> str:
    """What the learner is told."""
    if attack.name not in outcome.verdicts:
        return outcome.problems.get(attack.name) or f"the run ended before it: {outcome.output[-2000:]}"
    return str(outcome.exercise(attack.name, attack.exercise)["sentence"])


def faults(outcome: Outcome, attack: Attack) -> dict[str, list[str]]:
    """What went wrong with one attack, by what it breaks; all lists are empty where it held."""
    return {
        "marks": _gained(outcome, attack),
        "status": _unexpected(outcome, attack),
        "ran": _did_not_run(outcome, attack),
        "secrets": _seen(outcome, attack) + (hidden_in(outcome.root, attack) if attack.family == "secrets" else []),
        "limits": _exceeded(outcome, attack),
        "page": runs_in_a_page(outcome.root, attack) if attack.family in ("html", "evidence") else [],
        "feedback": in_the_feedback(outcome.root, attack) if attack.family in _SHOWN else [],
    }


def _gained(outcome: Outcome, attack: Attack) -> list[str]:
    score = outcome.scores.get(attack.name, 0.0)
    honest = 2.0 * len(attack.honest)
    found = []
    if score > honest:
        found.append(f"it has {score:g} marks, {honest:g} of them earned")
    if attack.name in outcome.verdicts and outcome.exercise(attack.name, attack.exercise)["score"]:
        found.append(f"{attack.exercise} has marks")
    # Who names the engine's own modules has to wait for a person.
    waits = (
        [one for one in attack.honest if outcome.exercise(attack.name, one)["status"] == "uncertain"]
        if attack.keeps
        else []
    )
    if attack.keeps and score + 2.0 * len(waits) < honest:
        found.append(f"it lost marks that it had earned: {score:g} of {honest:g}")
    return found


def _unexpected(outcome: Outcome, attack: Attack) -> list[str]:
    status = status_of(outcome, attack)
    if status in attack.expects:
        return []
    return [f"{attack.exercise} ended with {status!r}, not with {sorted(attack.expects)}: {told(outcome, attack)}"]


def _did_not_run(outcome: Outcome, attack: Attack) -> list[str]:
    """Whether an attack in a cell of the learner's own was among the cells that ran: else it has tried nothing."""
    if not attack.runs:
        return []
    ran = outcome.verdicts.get(attack.name, {}).get("own", ())
    return [] if ran else ["the cell in which it stands did not run"]


def _seen(outcome: Outcome, attack: Attack) -> list[str]:
    found = []
    for path, data in outcome.written(attack.name):
        found += [f"{token} in {path.name}" for token in sorted(canaries_in(data))]
        # The answer itself, which stands in the graded notebook, spells the marker in two halves.
        found += [match.decode(errors="replace") for match in re.findall(MARKER.encode() + rb'[^"\\]{0,80}', data)]
    return found


def secret_lines(blueprint: Blueprint, shortest: int = 26) -> list[str]:
    """The lines of hidden checks that a worker is handed, and that learners are not; in a whole lesson short ones are anybody's."""
    # The visible half goes the same way through ast.unparse, which writes brackets and lines anew.
    known = [cell.source for cell in blueprint.notebook.cells]
    known += [test.shown_probe for test in blueprint.checks.values()]
    shown = "".join(map(_bare, known))
    lines = {line.strip() for test in blueprint.checks.values() for line in test.probe.splitlines()}
    lines |= {line for plain in blueprint.plain.values() for line in plain.secrets}
    return sorted(line for line in lines if len(line) >= shortest and _bare(line) not in shown)


@cache
def _secrets_of(root: Path, lesson: str) -> list[str]:
    return secret_lines(read_blueprint(COURSE, root / "source" / lesson / f"{lesson}.ipynb", course_config(root)))


def texts_in(value: Any, pictures: list[bytes]) -> Iterator[str]:
    """All texts in such data; pictures among it are put aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        if "image/png" in value:
            pictures.append(base64.b64decode("".join(value["image/png"])))
        for key, inner in value.items():
            yield str(key)
            yield from texts_in(inner, pictures)
    elif isinstance(value, (list, tuple)):
        if value and all(isinstance(one, (int, float)) for one in value):
            yield " ".join(map(str, value))
        if value and all(isinstance(one, str) for one in value):
            yield "".join(value)
        for inner in value:
            yield from texts_in(inner, pictures)


def hidden_in(root: Path, attack: Attack) -> list[str]:
    """Lines of hidden checks in the graded notebook, the record or the feedback page, however they are written."""
    folder = root / "autograded" / attack.name / attack.lesson
    if not (folder / f"{attack.lesson}.ipynb").exists():
        return []
    texts = [page_of(COURSE, root, task_of(COURSE, root, Key(attack.name, attack.lesson), None))]
    pictures: list[bytes] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        texts.append(path.read_text(encoding="utf-8", errors="replace"))
        if path.suffix == ".ipynb":
            texts += texts_in([cell.get("outputs") for cell in json.loads(texts[-1])["cells"]], pictures)
    return [f"a hidden line: {line}" for line in leaked(texts, pictures, _secrets_of(root, attack.lesson))]


def _exceeded(outcome: Outcome, attack: Attack) -> list[str]:
    found = []
    verdict = outcome.verdicts.get(attack.name)
    if verdict is not None:
        # Its cells may run a second time for what is hidden, and have that time once more.
        if verdict["seconds"] > 2 * LIMITS["submission_seconds"] + 3:
            found.append(f"it took {verdict['seconds']:.1f} s")
        if verdict["peak_mb"] > 4 * LIMITS["memory_mb"]:
            found.append(f"it took {verdict['peak_mb']:.0f} MB")
    size = sum(len(data) for _, data in outcome.written(attack.name))
    if size > 12_000_000:
        found.append(f"its records take {size / 1e6:.0f} MB")
    return found


def runs_in_a_page(root: Path, attack: Attack) -> list[str]:
    """Whatever could run, load or cover in the graded notebook, as nbconvert makes a page of it."""
    from nbconvert.exporters import HTMLExporter

    path = root / "autograded" / attack.name / attack.lesson / f"{attack.lesson}.ipynb"
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    notebook: Any = nbformat.reads(text, as_version=4)
    found = ["half a surrogate pair"] if re.search("[\ud800-\udfff]", json.dumps(notebook, ensure_ascii=False)) else []
    # Prose and the course's own cells are the instructor's: only what the learner wrote or caused is looked at.
    marks = [(cell, cell.metadata.get("nbgrader", {})) for cell in notebook.cells]
    notebook["cells"] = [
        cell for cell, mark in marks if cell.get("outputs") or mark.get("solution") or OWN in cell.metadata
    ]
    for cell, mark in marks:
        if mark and not mark.get("solution"):
            cell["source"] = ""
    page, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    # It is a part of a page only, which says nothing of what may run.
    return found + [one for one in what_runs(page) if not one.startswith("no policy")]


def in_the_feedback(root: Path, attack: Attack) -> list[str]:
    """What is wrong with the learner's feedback page: active content, secrets, size, what turns or hides text."""
    if not (root / "autograded" / attack.name / attack.lesson / f"{attack.lesson}.ipynb").exists():
        return []
    page = page_of(COURSE, root, task_of(COURSE, root, Key(attack.name, attack.lesson), None))
    found = what_runs(page)
    found += sorted(canaries_in(page.encode()))
    # The answer itself, which the page shows, spells the marker in two halves.
    found += re.findall(re.escape(MARKER) + r"[^\"\\]{0,80}", text_of_page(page))
    found += [f"U+{ord(sign):04X}" for sign in set(re.findall("[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b\x7f]", page))]
    if len(page) > 500_000:
        found.append(f"{len(page)} characters")
    return found


def faults_of_the_run(outcome: Outcome) -> list[str]:
    """What went wrong with the run as a whole."""
    found = [f"a connection arrived: {what}" for what in sorted(set(outcome.heard))]
    found += outcome.left
    found += [f"printed by the run: {line[:200]}" for line in outcome.output.splitlines() if MARKER in line]
    found += [f"{token} printed by the run" for token in sorted(canaries_in(outcome.output.encode()))]
    if outcome.peak_mb > 2_000:
        found.append(f"the grader itself took {outcome.peak_mb:.0f} MB")
    missing = [learner for learner in NEIGHBOURS if learner not in outcome.verdicts]
    found += [f"{learner} was not graded" for learner in missing]
    return [*found, f"the run printed: {outcome.output[-2000:]}"] if missing else found
