"""The lesson of a file, by its content alone, whatever happened to the file."""

from __future__ import annotations

import gzip
import html
import json
from pathlib import Path

import pytest

from nbproof.collect.contents import Guess, LessonBook
from tests.collecting.uploads import notebook

ROOT = Path(__file__).parent.parent.parent
RELEASED = sorted((ROOT / "release").glob("*/*.ipynb"))


@pytest.fixture(scope="module")
def real() -> LessonBook:
    return LessonBook(ROOT)


def _guess(book: LessonBook, data: bytes, tmp_path: Path) -> Guess:
    path = tmp_path / "handed in"
    path.write_bytes(data)
    return book.guess(path)


def _without_metadata(data: bytes) -> bytes:
    cells = [{"cell_type": cell["cell_type"], "source": "".join(cell["source"])} for cell in json.loads(data)["cells"]]
    return json.dumps({"cells": cells}).encode()


DAMAGE = {
    "nothing": lambda data: data,
    "cut off": lambda data: data[: len(data) // 5],
    "beginning lost": lambda data: data[len(data) * 4 // 5 :],
    "metadata lost": _without_metadata,
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "utf-16 without a mark": lambda data: data.decode().encode("utf-16-be"),
    "windows line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "escaped": lambda data: json.dumps(json.loads(data), ensure_ascii=True).encode(),
    "a page of HTML": lambda data: html.escape(
        "\n".join("".join(c["source"]) for c in json.loads(data)["cells"])
    ).encode(),
    "a script": lambda data: "\n".join("# " + line for c in json.loads(data)["cells"] for line in c["source"]).encode(),
    "pictures first": lambda data: data.replace(
        b'"cells": [', b'"big": "' + b"iVBORw0" * 400_000 + b'", "cells": [', 1
    ),
    "zeros within": lambda data: data[:3000] + b"\0" * 5000 + data[3000:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_lesson_is_recognised(damage: str, real: LessonBook, tmp_path: Path) -> None:
    for path in (RELEASED[0], RELEASED[-1]):
        guess = _guess(real, DAMAGE[damage](path.read_bytes()), tmp_path)
        assert (guess.lesson, guess.others) == (path.stem, ())


def test_every_lesson_is_recognised_and_untouched_where_it_is(real: LessonBook, tmp_path: Path) -> None:
    assert len(RELEASED) >= 6
    for path in RELEASED:
        assert _guess(real, path.read_bytes(), tmp_path) == Guess(path.stem, (), untouched=True)
        touched = path.read_bytes().replace(b"# TODO: your code", b"# my code")
        assert _guess(real, touched, tmp_path) == Guess(path.stem, (), untouched=False)
        for text in ("My own cell", "print(1)"):
            more = json.loads(path.read_bytes())
            more["cells"].append({"cell_type": "code", "metadata": {}, "source": [text], "outputs": []})
            assert not _guess(real, json.dumps(more).encode(), tmp_path).untouched
        empty = json.loads(path.read_bytes())
        empty["cells"].append({"cell_type": "code", "metadata": {}, "source": [], "outputs": []})
        assert _guess(real, json.dumps(empty).encode(), tmp_path).untouched


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\0" * 5000, b"%PDF-1.7 hooks", b'{"cells": []}', b"[" * 100_000, b"\xff\xfe", b"\xff" * 1000,
        gzip.compress(b"x" * 999, mtime=0),
        b"An essay on hooks, apply, gradients, modules and test_nets, with register_forward_hook and named_parameters.",
        b"import torch\nmodel = torch.nn.Linear(1, 1)\nmodel.register_full_backward_hook(print)\n" * 50,
    ],
)  # fmt: skip
def test_what_is_of_no_lesson_is_told_so(data: bytes, real: LessonBook, tmp_path: Path) -> None:
    assert _guess(real, data, tmp_path).lesson == ""


def test_one_answer_is_enough_and_two_lessons_are_not_clear(course: Path, tmp_path: Path) -> None:
    book = LessonBook(course)
    assert _guess(book, notebook("02_other", 1, only="count_it", ids=False), tmp_path).lesson == "02_other"
    assert _guess(book, b"def half_as_much(x):\n    return x / 2\n", tmp_path).lesson == "01_first"
    both = _guess(book, notebook("01_first", 1) + notebook("02_other", 1), tmp_path)
    assert (both.lesson, both.others) == ("", ("01_first", "02_other"))


def test_long_and_tricky_files_take_no_time(real: LessonBook, tmp_path: Path) -> None:
    for data in (b"a" * (3 << 20), b"_a" * (1 << 20), b"\\u0041" * (1 << 19), b"#" * (3 << 20), b'"' * (1 << 20)):
        assert _guess(real, data, tmp_path) == Guess()
