"""The whole way: nothing dropped, nothing changed twice, wrong uses told with fact, place and next command."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shlex
import shutil
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from types import CodeType, FrameType

import pytest

from nbproof.cli.instructors import reading_of
from nbproof.cli.main import course_parser
from nbproof.errors import UsageError
from nbproof.gradebook.marks import Lateness, Mark
from nbproof.marking.results import Verdict
from nbproof.run.journal import only_run
from nbproof_lms import collect, placing
from nbproof_lms.collected_table import cures
from nbproof_lms.outcome import STATUSES
from nbproof_lms.roster import Member, enrol
from nbproof_lms.settling import copies_in_time
from tests import COURSE, main
from tests.lms.conftest import Collecting
from tests.lms.uploads import everything, folder_of, make_course, notebook, zipped

A, B, OTHER = notebook("01_first", "a"), notebook("01_first", "b"), notebook("02_other", 1)
MIXED = {
    "doejane_1_5_01_first.ipynb": A, "doejane_1_6_notes.txt": b"hello", "roebob_2_7_x.ipynb": OTHER, "lee_3_8_empty.ipynb": b"",
    "kim_4_text.html": b"<p>see attached", ".DS_Store": b"x", "__MACOSX/._a": b"y",
    "max_5_9_big.zip": zipped({"a/x.ipynb": B, "a/d.csv": b"1"}),
}  # fmt: skip


@pytest.mark.parametrize("upload", ["upload.zip", "folder"])
def test_all_that_came_is_kept_and_accounted_for(upload: str, collecting: Collecting, course: Path) -> None:
    collected = collecting(MIXED, upload)
    kept = list(everything(course / "collected").values())
    assert all(data in kept for data in (*MIXED.values(), B))
    assert {line.status for line in collected.records} <= set(STATUSES)
    for line in collected.records:
        if line.kept:
            place = course / "collected" / collected.uploads[0].folder / line.kept
            assert hashlib.sha256(place.read_bytes()).hexdigest() == line.sha256
    told = json.loads((course / "collected" / collected.uploads[0].folder / "list.json").read_text())
    assert [one["name"] for one in told["files"]] == [line.name for line in collected.records]
    assert {line.learner: line.status for line in collected.needs_person} == {
        "lee": "no lesson known",
        "kim": "no notebook",
    }
    assert everything(course / "submitted") == {
        "doejane/01_first/01_first.ipynb": A, "doejane/01_first/notes.txt": b"hello", "roebob/02_other/02_other.ipynb": OTHER,
        "max/01_first/01_first.ipynb": B, "max/01_first/d.csv": b"1",
    }  # fmt: skip


@pytest.mark.parametrize("upload", ["upload.zip", "folder"])
def test_the_same_upload_again_changes_nothing(upload: str, collecting: Collecting, course: Path) -> None:
    collecting(MIXED, upload)
    before = everything(course)
    collected = collecting(MIXED, upload)
    assert everything(course) == before
    assert any("nothing changed" in note for note in collected.notes)


def test_names_that_come_later_place_what_was_left(collecting: Collecting, course: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    files = {"Homework.ipynb": A, "x-17.ipynb": B}
    names.write_text("learner,file\njane,Homework.ipynb\nbob,x-17.ipynb\n")
    assert len(collecting(files).needs_person) == 2
    collecting(files, names=names)
    assert (course / "submitted/bob/01_first/01_first.ipynb").read_bytes() == B
    assert len(list((course / "collected").glob("0*"))) == 1


def test_for_one_lesson_another_lesson_is_not_taken(collecting: Collecting, course: Path, tmp_path: Path) -> None:
    files = {"jane_1_5_02_other.ipynb": A, "bob_2_6_02_other.ipynb": OTHER, "lee_3_7_x.ipynb": b"{broken"}
    collected = collecting(files, lesson="02_other")
    endings = {line.learner: (line.status, line.why) for line in collected.records if line.learner}
    assert endings["jane"] == ("another lesson", "it holds 01_first, handed in for 02_other")
    assert endings["bob"] == ("taken", "")
    assert endings["lee"][0] == "taken"
    assert {line.learner for line in collected.needs_person} == {"jane", "lee"}
    assert (course / "submitted/lee/02_other/02_other.ipynb").read_bytes() == b"{broken"
    told = cures(collected, course, [str(tmp_path / "came/upload.zip")])
    assert [line.split(":")[0].strip() for line in told] == ["another lesson", "taken"]
    assert not (course / "submitted/jane").exists()
    main(shlex.split(told[0].partition(" -m course ")[2]))
    assert (course / "submitted/jane/01_first/01_first.ipynb").read_bytes() == A


def test_data_lies_beside_its_own_notebook(collecting: Collecting, course: Path) -> None:
    files = {"jane/01_first/x.ipynb": A, "jane/01_first/data/a.csv": b"1", "jane/02_other/x.ipynb": OTHER,
             "jane/02_other/a.csv": b"2", "jane/what.csv": b"3", "bob/x.ipynb": A}  # fmt: skip
    collected = collecting(files, "folder")
    assert everything(course / "submitted/jane") == {
        "01_first/01_first.ipynb": A, "01_first/data/a.csv": b"1", "02_other/02_other.ipynb": OTHER, "02_other/a.csv": b"2",
    }  # fmt: skip
    ((name, why),) = [(line.name, line.why) for line in collected.needs_person]
    assert name == "jane/what.csv" and why.startswith("it may belong to any of several lessons")


@pytest.mark.parametrize(
    "names",
    [
        ["timestamp.txt/d.csv"], ["a", "a/b.csv"], ["a/b.csv", "A"],
        ["/".join(["d" * 100] * 60) + "/e.csv"], ["\n\x1b[2J.csv"],
    ],
)  # fmt: skip
def test_data_files_whose_names_cannot_be_harm_no_neighbour(
    names: list[str], collecting: Collecting, course: Path
) -> None:
    files = {"jane_1_5_w.zip": zipped({"x.ipynb": A, **dict.fromkeys(names, b"1")}), "bob_2_6_x.ipynb": B}
    for number in range(2):
        collecting(files, f"{number}.zip")
        found = everything(course / "submitted")
        assert (found["jane/01_first/01_first.ipynb"], found["bob/01_first/01_first.ipynb"]) == (A, B)
        assert not (course / "submitted/jane/01_first/timestamp.txt").exists()


def _of_two_notebooks(root: Path) -> Path:
    for part in ("source", "release"):
        names = {"hw/n1.ipynb": "01_first", "hw/n2.ipynb": "02_other"}
        folder_of(root / part, {name: notebook(lesson) for name, lesson in names.items()})
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'two'\n")
    return root


@pytest.mark.parametrize(("first", "second"), [("d", "d/y.csv"), ("d/x.csv", "d"), ("n2.ipynb/x.csv", "y.csv")])
@pytest.mark.parametrize("calls", [1, 2])
def test_data_of_one_notebook_of_an_assignment_keeps_nobody_out(
    calls: int, first: str, second: str, tmp_path: Path
) -> None:
    course, other = _of_two_notebooks(tmp_path / "two"), notebook("02_other", "m")
    hers = [
        {"mallory/p/a.ipynb": notebook("01_first", "m"), f"mallory/p/{first}": b"1"},
        {"mallory/q/b.ipynb": other, f"mallory/q/{second}": b"2"},
    ]
    for at, files in enumerate(hers if calls == 2 else [hers[0] | hers[1]]):
        path = tmp_path / f"up{at}.zip"
        path.write_bytes(zipped({**files, "zoe/x.ipynb": notebook("01_first", f"zoe {at}")}))
        collect(COURSE, course, [path])
    assert (course / "submitted/mallory/hw/n2.ipynb").read_bytes() == other
    assert (course / "submitted/zoe/hw/n1.ipynb").is_file()


@pytest.mark.parametrize(
    "around", ["Otto/", "Otto/hw/", "submissions/Otto/", "1-2 - Otto - Nov 24, 2026 1145 PM/", "Otto/w.zip/hw/"]
)
def test_data_of_an_assignment_of_several_notebooks_lies_beside_them(around: str, tmp_path: Path) -> None:
    course, other = _of_two_notebooks(tmp_path / "two"), notebook("02_other", "o")
    outer, _, inner = around.rpartition(".zip/")
    files = {f"{inner}n1.ipynb": A, f"{inner}n2.ipynb": other, f"{inner}data/x.csv": b"1", f"{inner}y.csv": b"2"}
    packed = {f"{outer}.zip": zipped(files)} if outer else files
    neighbour = around.replace("1-2", "2-3").replace("Otto", "Eve").replace("w.zip/hw/", "")
    (tmp_path / "up.zip").write_bytes(zipped({**packed, f"{neighbour}n1.ipynb": B}))
    for _ in range(2):
        assert not collect(COURSE, course, [tmp_path / "up.zip"]).needs_person
        found = everything(course / "submitted/Otto/hw")
        found.pop("timestamp.txt", None)
        assert found == {"n1.ipynb": A, "n2.ipynb": other, "data/x.csv": b"1", "y.csv": b"2"}


def _jane_hands_in(course: Path) -> None:
    """Her first notebook and data, on 24 November at a quarter to midnight; her folder holds the second one."""
    folder_of(course / "submitted/Jane Doe/hw", {"n2.ipynb": b"hers"})
    hers, his = "1-2 - Jane Doe - Nov 24, 2026 1145 PM", "2-3 - Bob Roe - Nov 1, 2026 900 AM"
    files = {f"{hers}/x.ipynb": A, f"{hers}/data/x.csv": b"1", f"{his}/x.ipynb": B}
    (course / "up.zip").write_bytes(zipped(files))
    collect(COURSE, course, [course / "up.zip"])


@pytest.mark.parametrize("part", ["n1.ipynb", "data", "timestamp.txt"])
def test_beside_another_notebook_nothing_is_written_through_a_link(part: str, tmp_path: Path) -> None:
    course, victim = _of_two_notebooks(tmp_path / "two"), tmp_path / "victim"
    victim.mkdir()
    folder = folder_of(course / "submitted/Jane Doe/hw", {})
    folder.mkdir(parents=True)
    (folder / part).symlink_to(victim if part == "data" else victim / "file")
    _jane_hands_in(course)
    assert everything(folder).keys() == {"n1.ipynb", "n2.ipynb", "data/x.csv", "timestamp.txt"}
    assert not [*victim.iterdir()]


@pytest.mark.parametrize("before", ["2026-11-25 00:30:00 Europe/Berlin", "Tue, 24 Nov 2026 23:30:00 +0000", "some day"])
def test_times_of_an_assignment_are_compared_as_moments(before: str, tmp_path: Path) -> None:
    course = _of_two_notebooks(tmp_path / "two")
    folder = folder_of(course / "submitted/Jane Doe/hw", {"timestamp.txt": before.encode()})
    _jane_hands_in(course)
    assert (folder / "timestamp.txt").read_text() == "2026-11-24 23:45:00.000000 UTC"


def test_an_assignment_of_two_notebooks_is_as_late_as_the_later_one(tmp_path: Path) -> None:
    course, path = _of_two_notebooks(tmp_path / "two"), tmp_path / "up.zip"
    late, early = (f"1-{day} - Jane Doe - Nov {day}, 2026 900 AM/x.ipynb" for day in (24, 10))
    other = {"2-3 - Bob Roe - Nov 1, 2026 900 AM/x.ipynb": notebook("01_first", "b")}
    path.write_bytes(zipped({late: notebook("01_first", "m"), early: notebook("02_other", "m"), **other}))
    collect(COURSE, course, [path])
    assert (course / "submitted/Jane Doe/hw/timestamp.txt").read_text().startswith("2026-11-24")


@pytest.mark.parametrize("uploads", [1, 2])
@pytest.mark.parametrize("late", [["n2"], ["n1"], ["n1", "n2"]])
def test_an_earlier_copy_of_two_notebooks_is_asked_about_if_it_can_be_in_time(
    late: list[str], uploads: int, tmp_path: Path
) -> None:
    """Due on the 15th, Jane hands in the first or both on the 10th, and ``late``, for the first time or again, on the 24th."""
    course = _of_two_notebooks(tmp_path / "two")
    came = {"2-3 - Bob Roe - Nov 1, 2026 900 AM/x.ipynb": notebook("01_first", "b")}
    for day, names in ((10, ["n1"] if late == ["n2"] else ["n1", "n2"]), (24, late)):
        lessons = {"n1": "01_first", "n2": "02_other"}
        hers = {f"1-{day} - Jane Doe - Nov {day}, 2026 900 AM/{n}.ipynb": notebook(lessons[n], str(day)) for n in names}
        came |= hers
        if uploads == 2 or day == 24:
            (tmp_path / f"{day}.zip").write_bytes(zipped(came))
            collect(COURSE, course, [tmp_path / f"{day}.zip"])
    timestamp = course / "submitted/Jane Doe/hw/timestamp.txt"
    assert timestamp.read_text().startswith("2026-11-24")
    mark = Mark(Verdict("Jane Doe", "hw"), penalty=1.0, late=Lateness(due=datetime(2026, 11, 15)))
    copies = [copy for copy, _ in copies_in_time(COURSE, course, [mark])]
    if uploads == 2:
        assert len(copies) == (late != ["n2"]) and (not copies or copies[0].endswith("Jane Doe/hw"))
    else:
        assert [Path(copy).name for copy in copies] == [f"{name}.ipynb" for name in late if late != ["n2"]]
    for copy in copies:
        collect(COURSE, course, [Path(copy)], learners=["Jane Doe"])
    assert timestamp.read_text().startswith("2026-11-10" if copies else "2026-11-24")
    assert not [*copies_in_time(COURSE, course, [mark])][len(copies) :]


def test_links_and_pipes_in_a_folder_are_not_followed(course: Path, tmp_path: Path) -> None:
    secret = folder_of(tmp_path / "secret", {"x.ipynb": B})
    upload = folder_of(tmp_path / "up", {"jane/x.ipynb": A})
    (upload / "bob").mkdir()
    (upload / "bob/x.ipynb").symlink_to(secret / "x.ipynb")
    (upload / "eve").symlink_to(secret)
    os.mkfifo(upload / "jane/pipe.ipynb")
    collected = collect(COURSE, course, [upload])
    assert [line.status for line in collected.needs_person] == ["not read"] * 3
    assert [path.name for path in (course / "submitted").iterdir()] == ["jane"]
    assert not [path for path in (course / "collected").rglob("*") if path.is_symlink()]


def test_a_link_in_submitted_is_not_written_through(collecting: Collecting, course: Path, tmp_path: Path) -> None:
    (course / "submitted").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (course / "submitted/jane").symlink_to(tmp_path / "elsewhere")
    collected = collecting({"jane/x.ipynb": A, "bob/x.ipynb": B})
    assert not list((tmp_path / "elsewhere").iterdir())
    assert "is a link" in collected.needs_person[0].why


def test_several_uploads_and_loose_files_at_once(course: Path, tmp_path: Path) -> None:
    class_ = zipped({"jane/x.ipynb": A, "lee/x.ipynb": B})
    folder = {"b/jane/y.ipynb": OTHER, "b/lee/y.ipynb": b"{}"}
    came = folder_of(tmp_path / "came", {"a.zip": class_, **folder, "bob.ipynb": B, "eve.ipynb": A})
    enrol(course, [Member(name, also=(f"{name}.ipynb",)) for name in ("bob", "eve", "jane", "lee")])
    collected = collect(COURSE, course, [came / name for name in ("a.zip", "b", "bob.ipynb", "eve.ipynb")])
    assert [upload.folder for upload in collected.uploads] == ["0001-a.zip", "0002-b", "0003-files"]
    placed = {"/".join(path.parts[-2:]) for path in (course / "submitted").glob("*/*")}
    assert placed == {"bob/01_first", "eve/01_first", "jane/01_first", "jane/02_other", "lee/01_first"}


def test_a_full_disk_half_way_leaves_whole_submissions_only(
    collecting: Collecting, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collecting({"jane_1_5_x.ipynb": A, "bob_2_6_x.ipynb": A}, "one.zip")
    copies, real = iter(range(99)), shutil.copyfile

    def full(source: Path, target: Path) -> None:
        if next(copies) == 1:
            Path(target).write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        real(source, target)

    second = {"jane_1_7_x-1.ipynb": B, "bob_2_8_x-1.ipynb": B}
    with monkeypatch.context() as patch:
        patch.setattr(placing.shutil, "copyfile", full)
        with pytest.raises(UsageError, match="No space left") as told:
            collecting(second, "two.zip")
    assert told.value.next_command
    assert everything(course / "submitted") == {"jane/01_first/01_first.ipynb": B, "bob/01_first/01_first.ipynb": A}
    collecting(second, "two.zip")
    assert everything(course / "submitted") == {"jane/01_first/01_first.ipynb": B, "bob/01_first/01_first.ipynb": B}


def test_two_at_once_do_not_meet(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    upload = folder_of(tmp_path / "up", {"jane/x.ipynb": A})
    with only_run(course):
        assert main(["collect", str(upload), "--course", str(course)]) != 0
    assert "another run" in capsys.readouterr().err
    assert not (course / "submitted").exists()


WRONG = {
    "no such path": (["{up}/none.zip"], "there is no such folder or file"),
    "the course itself": (["{course}"], "this folder is the course's own"),
    "no such lesson": (["{up}", "--lesson", "hooks"], "no lesson is called 'hooks'"),
    "no such names": (["{up}", "--names", "{up}/none.csv"], "the names cannot be read"),
    "no course": (["{up}", "--course", "{up}/.."], "there is nothing to grade against"),
}


@pytest.mark.parametrize("use", WRONG)
def test_wrong_uses_end_with_fact_place_and_next_command(
    use: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    up = folder_of(tmp_path / "up", {"n.csv": b"a,b\n1,2\n", "jane/x.ipynb": A})
    words, fact = WRONG[use]
    assert main(["collect", "--course", str(course), *(one.format(up=up, course=course) for one in words)]) == 2
    told = capsys.readouterr().err
    assert f"error: {fact}" in told and "\n  at:   " in told and "\n  next: " in told


def test_an_upload_that_cannot_be_unpacked_is_kept_and_listed(collecting: Collecting, course: Path) -> None:
    data = zipped(MIXED)[:200]
    assert [line.status for line in collecting(data).needs_person] == ["not read"]
    assert data in everything(course / "collected").values()


def test_the_command_counts_every_file_and_its_exit_code_tells(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.zip").write_bytes(zipped({"jane_1_5_01_first.ipynb": A, "bob_2_6_x.ipynb": B}))
    (tmp_path / "mixed.zip").write_bytes(zipped({**MIXED, "[red]x_7_7_\x1b[2J.ipynb": A}))
    assert main(["collect", str(tmp_path / "good.zip"), "--course", str(course)]) == 0
    told = capsys.readouterr().out
    assert "2 taken" in told
    assert main(["collect", str(tmp_path / "mixed.zip"), "--course", str(course)]) == 1
    told = capsys.readouterr().out
    assert "\x1b" not in told and "need you" in told and "no lesson known: --lesson LESSON" in told


def test_what_lies_beside_notebooks_in_clones_has_no_row(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder_of(tmp_path / "came", {"ada/x.ipynb": A, "ada/README.md": b"#", "bob/x.ipynb": B, "bob/README.md": b"#"})
    assert main(["collect", str(tmp_path / "came"), "--lesson", "01_first", "--course", str(course)]) == 0
    told = capsys.readouterr().out
    assert "README" not in told and "2 taken, 2 data file" in told, told


def test_all_of_one_learner_is_theirs_by_the_command_that_is_printed(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder_of(tmp_path / "came", {"ada/01_first/x.ipynb": A, "ada/01_first/d.csv": b"1"})
    (tmp_path / "class.csv").write_text("learner,name\nada,Ada\nbob,Bob\n")
    words = ["collect", str(tmp_path / "came"), "--names", str(tmp_path / "class.csv"), "--course", str(course)]
    assert main(words) == 1
    told = capsys.readouterr().out.partition("no learner known: ")[2]
    assert "--names" not in told.splitlines()[0]
    assert main(shlex.split(told.partition(" -m course ")[2].partition(" says who")[0].replace("NAME", "ada"))) == 0
    assert set(everything(course / "submitted/ada")) == {"01_first/01_first.ipynb", "01_first/d.csv"}


def test_grade_reads_an_upload_as_collect_does() -> None:
    said = {"lesson": "01_first", "names": Path("n.csv")}
    words = [word for name, value in said.items() for word in (f"--{name}", str(value))]
    words += ["--learner", "ada", "--learner", "bob", "--fetch", "clones:here"]
    found = {**said, "learners": ["ada", "bob"], "fetch": ["clones:here"]}
    for call in (["collect", "up.zip"], ["grade", "--from", "up.zip"]):
        assert reading_of(course_parser(COURSE).parse_args([*call, *words])) == found


def _calls(count: int, place: Path, form: str) -> Counter[CodeType]:
    """How often each function is called where so many hand in three times, with or without a table of them."""
    course, table = make_course(place / "course"), place / "class.csv"
    table.write_text("learner,name\n" + "".join(f"l{at},Abc{at:04} Roe\n" for at in range(count)))
    found = Counter[CodeType]()

    def noted(frame: FrameType, event: str, told: object) -> None:
        if event == "call":
            found[frame.f_code] += 1

    for lesson in ("01_first", "02_other", "01_first"):
        files = {form.format(at): notebook(lesson, f"{at} {place.name} {found.total()}") for at in range(count)}
        (place / "hooks.zip").write_bytes(
            zipped(files | {form.format(0).replace("x.ipynb", f"{at}.csv"): b"1" for at in range(count)})
        )
        sys.setprofile(noted)
        try:
            collect(COURSE, course, [place / "hooks.zip"], names=None if "Roe" in form else table)
        finally:
            sys.setprofile(None)
        assert len([*course.glob(f"submitted/*/{lesson}/*.ipynb")]) == count
    return found


@pytest.mark.parametrize("form", ["Abc{0:04} Roe_{0}_assignsubmission_file_/x.ipynb", "l{}/x.ipynb"])
def test_what_a_class_takes_grows_as_the_class(form: str, tmp_path: Path) -> None:
    """And not with the square: there are classes of thousands, and learners with as many files beside a notebook."""
    for name in ("warm", "few", "many"):
        (tmp_path / name).mkdir()
    _calls(2, tmp_path / "warm", form)
    few, many = (_calls(count, tmp_path / name, form) for count, name in ((12, "few"), (48, "many")))
    steep = {
        f"{code.co_filename}: {code.co_name}" for code, calls in many.items() if calls > 700 and calls > 6 * few[code]
    }
    assert not steep
