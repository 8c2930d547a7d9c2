"""Files in any state: cells where there are any, a reason where not, in bounded time and memory."""

from __future__ import annotations

import gzip
import io
import json
import time
import tracemalloc
import zipfile

import pytest

from nbproof.recover import unpacking as unwrapping
from nbproof.recover.broken_json import CutDict, values_in
from nbproof.recover.notebook_bytes import Damaged, plain_cells, salvaged
from tests.grading.conftest import ROOT


def _notebook(*sources: str) -> str:
    cells = [{"cell_type": "code", "metadata": {}, "source": source, "outputs": []} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _sources(data: bytes | str) -> list[str]:
    return [cell.source for cell in salvaged(data.encode() if isinstance(data, str) else data).cells]


def _zip(content: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"a": [1, 2,], "b": NaN,}', [{"a": ["1", "2"], "b": "NaN"}]),
        ('{"a": "line\nfeed"} {"b": "\\d"}', [{"a": "line\nfeed"}, {"b": "\\d"}]),
        ("{'a': None, 'b': True}", [{"a": None, "b": True}]),
        ('junk {"a": {"b": "c"} "d": "e"} }]', [{"a": {"b": "c"}, "d": "e"}]),
        ('{"a": "\\ud83d\\ude00 \\ud800"}', [{"a": "\U0001f600 \ud800"}]),
    ],
)
def test_broken_json_is_read_as_far_as_it_goes(text: str, wanted: list[object]) -> None:
    assert values_in(text) == wanted


def test_what_is_open_at_the_end_is_marked() -> None:
    (value,) = values_in('{"a": {"b": "x"}, "c": {"d": "y')
    assert isinstance(value, CutDict)
    assert isinstance(value["c"], CutDict)
    assert not isinstance(value["a"], CutDict)


def test_a_cell_in_which_the_file_breaks_off_is_known() -> None:
    text = _notebook("a = 1", "b = 2", "c = 3")
    read = salvaged(text[: text.index("c = 3") + 1].encode())
    assert [(cell.source, cell.whole) for cell in read.cells] == [("a = 1", True), ("b = 2", True), ("c", False)]
    assert "breaks off after 3 cells" in read.damage


def test_both_sides_of_a_conflict_are_there_ours_first() -> None:
    lines = _notebook("a = 1", "b = 2").splitlines()
    at = next(number for number, line in enumerate(lines) if "a = 1" in line)
    lines[at : at + 1] = ["<<<<<<< HEAD", lines[at], "=======", lines[at].replace("1", "7"), ">>>>>>> main"]
    assert _sources("\n".join(lines)) == ["a = 1", "b = 2", "a = 7"]


def test_an_undamaged_notebook_is_read_alike_by_both_readers() -> None:
    text = _notebook("a = 1\n", "print('\u00e9\u4e2d\U0001f600')", "\tx = '\\n'")
    assert list(salvaged(text.encode()).cells) == plain_cells(text.encode())
    assert salvaged(text.encode()).damage == ""


def test_nothing_that_is_no_text_gets_through() -> None:
    cell = {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": ["x"]}}, "source": ["a", 3, None, "\ud800\0b"]}
    (read,) = salvaged(json.dumps({"cells": [cell, 7, None, {"cell_type": "code", "source": {}}]}).encode()).cells
    assert (read.name, read.source) == (None, "a?\ufffdb")


def test_of_several_notebooks_in_a_zip_the_lessons_own_is_taken() -> None:
    data = _zip({"a/01_x.ipynb": _notebook("mine").encode(), "a/other.ipynb": _notebook("not mine").encode()})
    assert [cell.source for cell in salvaged(data, "01_x").cells] == ["mine"]
    with pytest.raises(Damaged, match="2 notebooks"):
        salvaged(data, "02_y")


_BOMB = b"\0" * (200 << 20)


@pytest.mark.parametrize(
    ("kind", "says"),
    [("gzip", "more than"), ("zip", "more than"), ("zip in zip in zip in zip in zip", "archive in an archive")],
)
def test_a_bomb_is_not_blown_up(kind: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unwrapping, "MOST", 8 << 20)
    bombs = {"gzip": lambda: gzip.compress(_BOMB, 1), "zip": lambda: _zip({"x.ipynb": _BOMB})}
    data = bombs[kind]() if kind in bombs else b""
    if not data:
        data = _notebook("a").encode()
        for _ in range(5):
            data = _zip({"x.ipynb": data})
    tracemalloc.start()
    with pytest.raises(Damaged, match=says):
        salvaged(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 << 20


@pytest.mark.parametrize(
    "text",
    [
        "[" * 500_000,
        '{"a":' * 500_000,
        '{"cells": [' + '{"cell_type": "code", ' * 20_000,
        '"cell_type"' * 100_000,
        '{"cells": [{"cell_type": "code", "source": "' + "\\" * 300_001,
        "<<<<<<< a\n=======\n>>>>>>> b\n" * 20_000,
        "<div class='cell code_cell'>" * 3_000,
        "# %%\n" * 50_000,
        "# In[1]:\n" * 50_000,
        "```python\n" * 50_000,
        "x = " + "(" * 50_000,
        '{"cells": 10000000' + "0" * 400_000 + "}",
        "A" * 400_000,
        "<" * 200_000,
        "\u201c{" * 100_000,
        "%7B" * 200_000,
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_ends_in_time(text: str) -> None:
    start = time.process_time()
    try:
        salvaged(text.encode())
    except Damaged as damage:
        assert str(damage)
    assert time.process_time() - start < 8


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "钩子运行时，头部的梯度已经算好了。"),
        ("gb18030", "因为顺序"),
        ("cp949", "훅은 기울기가 계산된 뒤에 실행됩니다."),
        ("cp932", "フックは勾配が計算された後に実行されます。"),
        ("big5", "鉤子執行時，頭部的梯度已經算好了。"),
        ("cp1251", "Хук срабатывает после того, как градиент уже вычислен."),
        ("cp1252", "Le crochet s’exécute après « voilà », Größe übermäßig."),
        ("cp1252", "café élan"),
        ("cp1252", "naïve × 2 · é"),
        ("cp1252", "señor ¿qué? años, mañana"),
        ("cp1252", "Ångström är förstås över"),
    ],
)
@pytest.mark.parametrize("slug", ["01_module_anatomy", "02_tensor_hooks", "06_capstones"])
def test_a_notebook_in_the_encoding_of_an_editor_is_read(slug: str, encoding: str, text: str) -> None:
    notebook = json.loads((ROOT / "release" / slug / f"{slug}.ipynb").read_text(encoding="utf-8"))
    notebook["cells"][-2]["source"] = text
    for indent in (1, None):
        read = salvaged(json.dumps(notebook, ensure_ascii=False, indent=indent).encode(encoding, "replace"))
        assert read.cells[-2].source == text
        assert "UTF-8" in read.damage


def test_utf_8_of_which_some_bytes_are_spoiled_stays_utf_8() -> None:
    data = _notebook("x").replace('"x"', '"钩子运行时，梯度已经算好了 §"').encode().replace("§".encode(), b"\xe9")
    assert _sources(data) == ["钩子运行时，梯度已经算好了 é"]


def test_a_picture_that_was_only_attached_is_told() -> None:
    cell = {"cell_type": "markdown", "source": "", "metadata": {}, "attachments": {"a.png": {"image/png": "AA=="}}}
    assert _sources(json.dumps({"cells": [cell]})) == ["\n![a.png](attachment:a.png)"]
