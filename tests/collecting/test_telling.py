"""What a teacher reads of an upload: of a large one what is special, and what to do about what needs a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.cli.collected_table import MANY
from nbproof.cli.main import main
from tests.collecting.uploads import notebook, zipped

CLASS = [f"learner{number:03d}" for number in range(MANY + 5)]
UPLOAD = {
    **{f"{name}_{number}_5{number:03d}_01_first.ipynb": notebook("01_first", number) for number, name in enumerate(CLASS)},
    "latecomer_LATE_900_6_01_first.ipynb": notebook("01_first", 901),
    "essayist_901_7_essay.pdf": b"%PDF-1.7 my answers",
}  # fmt: skip


def _collect(course: Path, files: dict[str, bytes], *more: str) -> None:
    (course.parent / "up.zip").write_bytes(zipped(files))
    assert main(["collect", str(course.parent / "up.zip"), "--course", str(course), *more]) == 1


def test_of_a_large_upload_what_is_special_is_listed_and_the_rest_is_counted(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _collect(course, UPLOAD)
    told = capsys.readouterr().out
    assert "essayist" in told and "latecomer" in told
    assert not [name for name in CLASS if name in told]
    assert f"not shown: {len(CLASS)} taken; --all lists every file" in told
    _collect(course, UPLOAD)
    assert f"not shown: {len(CLASS)} already there; --all lists every file" in capsys.readouterr().out
    _collect(course, UPLOAD, "--all")
    told = capsys.readouterr().out
    assert all(name in told for name in CLASS)
    assert "not shown" not in told


def test_a_small_upload_is_listed_whole(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _collect(course, dict(list(UPLOAD.items())[-MANY:]))
    told = capsys.readouterr().out
    assert CLASS[-1] in told
    assert "not shown" not in told


def test_two_of_one_name_are_told_apart_by_what_the_message_names(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {f"kimminji_{number}_5_01_first.ipynb": notebook("01_first", number) for number in (71, 72)}
    plain, canvas = course.parent / "class.csv", course.parent / "canvas.csv"
    plain.write_text("learner,name\ns1,Minji Kim\ns2,Minji Kim\n")
    canvas.write_text('Student,ID,SIS Login ID\n"Kim, Minji",71,s1\n"Kim, Minji",72,s2\n')
    _collect(course, files, "--names", str(plain))
    told = capsys.readouterr().out
    assert "ambiguous learner" in told
    assert "Canvas's gradebook export" in told, "a table of names alone cannot tell them apart: which one can?"
    assert main(["collect", str(course.parent / "up.zip"), "--course", str(course), "--names", str(canvas)]) == 0
    assert {path.name for path in (course / "submitted").iterdir()} == {"s1", "s2"}


def test_an_anonymous_download_of_canvas_is_listed_with_what_to_do(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Canvas's own ``content_zipper.rb`` names the files where graders are not to know whose they are."""
    files = {
        "anon_aB3x9_56789_Jane Doe.ipynb": notebook("01_first", 1),
        "LATE_anon_12345_56790_01_first.ipynb": notebook("01_first", 2),
        "anon_Zz9yY_text.html": b"<p>see the file</p>", "anonymous_ann_01_first.ipynb": notebook("01_first", 3),
    }  # fmt: skip
    _collect(course, files)
    told = capsys.readouterr().out
    assert not (course / "submitted").exists() or not [
        path.name for path in (course / "submitted").iterdir() if path.name[:5] == "anon_" or "Jane" in path.name
    ]
    assert told.count("Canvas hides whose it is") == 3
    assert "post the grades in Canvas" in told
    (course.parent / "names.csv").write_text("learner,canvas\nid_a,anon_aB3x9\nid_b,anon_12345\nid_c,anon_Zz9yY\n")
    main(
        ["collect", str(course.parent / "up.zip"), "--course", str(course), "--names", str(course.parent / "names.csv")]
    )
    rows = {
        path.name: (path / "01_first" / "01_first.ipynb").read_bytes() for path in (course / "submitted").glob("id_*")
    }
    assert rows == {"id_a": notebook("01_first", 1), "id_b": notebook("01_first", 2)}
    taken = [line for line in capsys.readouterr().out.splitlines() if "id_b" in line]
    assert taken and "taken: late" in taken[0]
