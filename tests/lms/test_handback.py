"""Feedback that goes back: what Moodle and Canvas do with each file, read from their source, and only what is new."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from nbproof.run.journal import RunState, note_problems
from nbproof_lms import collect
from nbproof_lms.roster import Member, enrol
from nbproof_lms.system import systems
from tests import COURSE, main
from tests.lms.uploads import zipped
from tests.report.made import LESSON, course_on_disk, refused

JANE, BOB = "Jane Doe", "Bob O'Roe-Ünal"


def moodle_takes(name: str, participants: set[str]) -> tuple[str, str] | None:
    """(participant, name of the feedback file), as ``is_valid_filename_for_import`` finds them; None if it takes none."""
    if name.rpartition("/")[2][:1] in (".", "~"):
        return None
    parts = ["", "import", *name.split("/")]
    while parts:
        info = parts.pop(0).split("_", 4)
        known = len(info) >= 4 and re.fullmatch(r"\d+", info[1]) and str(int(info[1])) in participants
        if known and info[2:4] == ["assignsubmission", "file"]:
            return str(int(info[1])), "/".join([*info[4:], *parts])
    return None


def canvas_takes(name: str, attempts: Mapping[str, set[str]]) -> tuple[str, str] | None:
    """(user, file), as ``infer_comment_context_from_filename`` finds them. ``attempts``: user -> files handed in last."""
    name = name.rpartition("/")[2]
    split = [part for part in name.split("_") if part != "LATE"]
    if split[0] == "anon" or split[-1].startswith("link") or name.startswith("._"):
        return None
    user, file = [*[part for part in split if re.fullmatch(r"\d+", part)][:2], "", ""][:2]
    return (user, file) if file in attempts.get(user, set()) else None


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with one lesson, of which nothing has come yet."""
    root = course_on_disk(tmp_path / "course", {})
    released = root / "release" / LESSON
    released.mkdir(parents=True)
    (released / f"{LESSON}.ipynb").write_bytes(_notebook("    # TODO: work on x\n    pass"))
    return root


def _notebook(body: str) -> bytes:
    head = {"grade": False, "grade_id": "first", "locked": False, "solution": True, "schema_version": 3, "task": False}
    cell: dict[str, object] = {
        "cell_type": "code", "source": f"def first(x):\n{body}", "metadata": {"nbgrader": head}, "outputs": [],
        "execution_count": None, "id": "first",
    }  # fmt: skip
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _by(learner: str) -> bytes:
    return _notebook(f"    return 2 * x  # {learner}")


def _collect(root: Path, files: Mapping[str, bytes], name: str = "download.zip", names: str = "") -> None:
    path = root.parent / name
    path.write_bytes(zipped(files))
    table = root.parent / "names.csv"
    table.write_text(names)
    collect(COURSE, root, [path], lesson=LESSON, names=table if names else None)


def _by_hand(root: Path, *learners: str) -> None:
    for learner in learners:
        folder = root / "submitted" / learner / LESSON
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.ipynb").write_bytes(_by(learner))


def _grade(root: Path, answers: Mapping[str, str] | None = None) -> None:
    """Verdicts for everybody who handed in, as grading leaves them."""
    learners = [path.name for path in (root / "submitted").iterdir()]
    shutil.rmtree(root / "autograded", ignore_errors=True)
    made = course_on_disk(
        root.parent / f"made{len(list(root.parent.iterdir()))}",
        {learner: {"answer": (answers or {}).get(learner, f"return 2  # {learner}")} for learner in learners},
    )
    shutil.copytree(made / "autograded", root / "autograded")
    shutil.copy(made / "gradebook.db", root)
    state = RunState(root)
    state.gradebook = 0
    state.save()
    for learner in learners:
        (root / "autograded" / learner / LESSON / f"{LESSON}.ipynb").write_text("{}")


def _contents(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def _back(root: Path, target: str, *more: str) -> int:
    return main(["feedback", "--course", str(root), "--for", target, *more])


def _parcels(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "handback").iterdir() if path.name != "record.json")


MOODLE = {
    f"{JANE}_123_assignsubmission_file_/x.ipynb": _by("jane"),
    f"{BOB}_0124_assignsubmission_file_01_small.ipynb": _by("bob"),
    # What a learner packs is called as the learner likes: it is not Moodle that speaks.
    "Evelina_125_assignsubmission_file_/hand in.zip": zipped(
        {f"{JANE}_123_assignsubmission_file_/x.ipynb": _by("eve")}
    ),
}


@pytest.fixture
def graded(course: Path) -> Path:
    """The same, with what three learners handed in by Moodle, graded."""
    _collect(course, MOODLE)
    _grade(course)
    return course


def test_moodle_gives_each_page_to_whom_it_is_about(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _back(graded, "moodle") == 0
    told = capsys.readouterr().out
    assert "3 pages for Bob O'Roe-Ünal, Evelina, Jane Doe" in told
    assert "Upload multiple feedback files in a zip" in told and "to several assignments" in told
    files = _contents(graded / "handback" / f"moodle-{LESSON}-1.zip")
    given = {moodle_takes(name, {"123", "124", "125"}): page for name, page in files.items()}
    learners = {"123": JANE, "124": "Bob O&#39;Roe-Ünal", "125": "Evelina"}
    assert set(given) == {(number, f"{LESSON}_feedback.html") for number in learners}, (
        "what replaces the page of before"
    )
    for taken, page in given.items():
        learner = learners[taken[0] if taken else ""]
        assert learner in page
        assert not [other for other in (JANE, "Roe-Ünal", "Evelina") if other in page and other not in learner]


@pytest.mark.parametrize("is_put_back", [False, True])
def test_canvas_takes_each_page_for_the_latest_attempt(
    is_put_back: bool, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _collect(course, {
        "doejane_LATE_3143_207797_x.ipynb": _by("jane"), "roebob_3144_207798_link-list.ipynb": _by("bob"),
        "evesmith_3145_207799_work.zip": zipped({"doejane_3143_207797_x.ipynb": _by("eve")}),
    })  # fmt: skip
    _collect(course, {
        "doejane_LATE_3143_300001_x-1.ipynb": _by("jane again"), "roebob_3144_207798_link-list.ipynb": _by("bob"),
        "evesmith_3145_207799_work.zip": zipped({"doejane_3143_207797_x.ipynb": _by("eve")}),
    }, "later.zip")  # fmt: skip
    (before,) = course.glob("collected/*-later.zip/replaced/doejane/*")
    if is_put_back:
        collect(COURSE, course, [before], lesson=LESSON, learners=["doejane"])
    _grade(course)
    assert _back(course, "canvas") == 0
    told = capsys.readouterr().out
    assert "Re-Upload Submissions" in told and "save it as .html" in told
    files = _contents(course / "handback" / f"canvas-{LESSON}-1.zip")
    attempts = {"3143": {"300001"}, "3144": {"207798"}, "3145": {"207799"}}
    taken = {canvas_takes(name, attempts): page for name, page in files.items()}
    assert set(taken) == {("3143", "300001"), ("3144", "207798"), ("3145", "207799")}
    assert "doejane" in taken["3143", "300001"] and "evesmith" in taken["3145", "207799"]
    assert all(name.endswith(".html") for name in files)


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("Canvas", "123_3143_207797_x.ipynb"), ("Canvas", "link_LATE_3143_207797_x.ipynb"),
        ("Moodle", f"~{'हिन्दी ' * 25}_3143_assignsubmission_file_x.ipynb"),
    ],
)  # fmt: skip
def test_names_that_an_lms_would_read_otherwise(system: str, name: str) -> None:
    said = systems()[system].read(name)
    assert said is not None
    file = systems()[system].feedback_start(said) + "05_links_feedback.html"
    assert not set(file) & set('/\\:*?"<>|') and file.isprintable() and len(file) < 160
    if system == "Moodle":
        assert moodle_takes(file, {"3143", "1"}) == (said.account, "05_links_feedback.html")
    else:
        assert canvas_takes(file, {"3143": {"207797"}}) == ("3143", "207797")


@pytest.mark.slow
def test_only_what_is_new_goes_back_again(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _back(graded, "moodle") == _back(graded, "moodle", "--force") == 0
    first = (graded / "handback" / f"moodle-{LESSON}-1.zip").read_bytes()
    for journal in (graded / "autograded").rglob(".verdict.json"):  # the same verdicts, of another run
        journal.write_text(re.sub('"seed": [0-9]+', '"seed": 77', journal.read_text()))
        os.utime(journal, (0, 0))
    capsys.readouterr()
    assert _back(graded, "moodle") == 0
    assert "nothing new to hand back; 3 handed back before, and unchanged since" in capsys.readouterr().out
    assert len(_parcels(graded)) == 2
    _grade(graded, {JANE: "return 'another answer'"})
    assert _back(graded, "moodle") == 0
    assert f"1 page for {JANE}; 2 handed back before" in capsys.readouterr().out
    assert len(_contents(graded / "handback" / f"moodle-{LESSON}-3.zip")) == 1
    assert (graded / "handback" / f"moodle-{LESSON}-1.zip").read_bytes() == first, "it may not be uploaded yet"
    assert _back(graded, "folder") == 0, "each target by itself"
    assert "3 pages" in capsys.readouterr().out


def test_who_came_by_hand_is_listed_with_a_cure_that_works(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _by_hand(course, "jane", "bob")
    _grade(course)
    assert _back(course, "moodle") == 1
    told = capsys.readouterr().out
    assert (
        f"! not in a zip: {LESSON} of bob, jane: nothing of it came from Moodle, so the number that Moodle gives"
        in told
    )
    assert "-m course collect DOWNLOAD --lesson LESSON --names CSV" in told
    assert _parcels(course) == []
    words = shlex.split(told.partition("  next: ")[2].partition(": by mail")[0])[3:]
    assert main([word.replace("LEARNER", "jane") for word in words] + ["--course", str(course)]) == 0
    assert _back(course, "moodle") == 1
    told = capsys.readouterr().out
    assert (
        "but in a table of --for folder, and unchanged since: 1 page of jane" in told and f"{LESSON} of bob: " in told
    )
    assert _back(course, "folder") == _back(course, "moodle") == 0, "nothing is left to do"
    before = {path: path.read_bytes() for path in (course / "submitted").rglob("*.ipynb")}
    _collect(course, MOODLE, names=f"learner,name\njane,{JANE}\nbob,{BOB}\n")
    assert {path: path.read_bytes() for path in (course / "submitted").rglob("*.ipynb")} == before
    assert _back(course, "moodle") == 0
    assert "2 pages for bob, jane" in capsys.readouterr().out


def test_pages_that_another_lms_takes_are_no_trouble(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _collect(
        graded, {f"{who}_{at}_10{at}_x.ipynb": _by(who) for at, who in enumerate(("doekim", "roeli"), 8)}, "canvas.zip"
    )
    _grade(graded)
    assert _back(graded, "moodle") == 0
    told = capsys.readouterr().out
    assert "note: Canvas takes 2 pages of doekim, roeli:" in told and "! not in a zip" not in told
    assert main(shlex.split(told.partition("roeli: ")[2])[3:]) == 0
    assert [name for name in _parcels(graded) if "canvas" in name] == [f"canvas-{LESSON}-1.zip"]
    _by_hand(graded, "max")
    _grade(graded)
    assert _back(graded, "moodle") == 1
    assert f"! not in a zip: {LESSON} of max:" in capsys.readouterr().out


def test_no_page_goes_to_an_account_whose_copy_was_not_graded(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Eve called herself as Bob is called, and a person has said which copy is his."""
    others = {"doejane_8_101_x.ipynb": _by("jane")}
    _collect(course, {**others, "roebob_55_190_x.ipynb": _by("eve")})
    _collect(course, {**others, "roebob_55_190_x.ipynb": _by("eve"), "roebob_7_100_x.ipynb": _by("bob")}, "2.zip")
    (his,) = course.glob("collected/*/**/roebob_7_100_x.ipynb")
    collect(COURSE, course, [his], lesson=LESSON, learners=["roebob"])
    _grade(course)
    assert _back(course, "canvas") == 1
    assert f"! not in a zip: {LESSON} of roebob" in capsys.readouterr().out
    assert list(_contents(course / "handback" / f"canvas-{LESSON}-1.zip")) == [f"doejane_8_101_{LESSON}_feedback.html"]


def test_a_number_of_the_roster_is_the_learners_wherever_the_copy_came_from(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person has chosen what Bob sent by mail; the command that is printed puts the number on the roster."""
    download = {"doejane_8_101_x.ipynb": _by("jane"), "roebob_7_100_x.ipynb": _by("eve")}
    _collect(course, download)
    (course.parent / "mail.ipynb").write_bytes(_by("bob"))
    collect(COURSE, course, [course.parent / "mail.ipynb"], lesson=LESSON, learners=["roebob"])
    _grade(course)
    assert _back(course, "canvas") == 1
    told = capsys.readouterr().out
    assert f"{LESSON} of roebob: nothing says for certain which numbers Canvas has" in told
    assert "where CSV is the table that has these numbers (in Canvas: Grades, Export)\n" in told, (
        "nobody is on the roster"
    )
    enrol(course, [Member("doejane", "Doe Jane"), Member("roebob", "Roe Bob")])
    assert _back(course, "canvas") == 1
    told = capsys.readouterr().out
    assert "next: only if 'roebob_7_100_' there is roebob's own, and nobody else's: " in told and "DOWNLOAD" not in told
    assert main(shlex.split(told.partition("nobody else's: ")[2].partition(" -m course ")[2].splitlines()[0])) == 0
    assert _back(course, "canvas") == 0
    assert list(_contents(course / "handback" / f"canvas-{LESSON}-2.zip")) == [f"roebob_7_100_{LESSON}_feedback.html"]


def test_a_number_that_two_learners_would_have_is_nobodys(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(graded.glob("collected/*/list.json"))
    told = json.loads(path.read_text())
    twin = next(fact for fact in told["files"] if fact["learner"] == JANE)
    told["files"] += [{**twin, "learner": "twin"}, "no fact", {"name": 7}]
    path.write_text(json.dumps(told))
    assert _back(graded, "moodle") == 1
    told_to_person = capsys.readouterr().out
    assert f"! not in a zip: {LESSON} of {JANE}" in told_to_person and "2 pages" in told_to_person


def test_what_could_not_be_graded_goes_back_with_its_reason(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note_problems(graded, [refused(JANE, LESSON, "it is not a notebook")])
    assert main(["feedback", "--course", str(graded)]) == 0
    page = (graded / "feedback" / JANE / LESSON / f"{LESSON}.html").read_text()
    assert "it is not a notebook" in page, "not the verdict on what came before"
    shutil.rmtree(graded / "autograded" / JANE)
    assert _back(graded, "moodle") == _back(graded, "folder") == 0
    assert "3 pages" in capsys.readouterr().out
    assert page in _contents(graded / "handback" / f"moodle-{LESSON}-1.zip").values()


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_for_a_mail_merge(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _by_hand(course, "ada", "=cmd()", "bea", "zoë@uni.example")
    _grade(course)
    (course / "roster.csv").write_text(
        'learner,name,email\nada,"de L, Ada",\nbea,Bea L,bea@uni.example\n=cmd(),C,+c@uni.example\nx,X,\n'
    )
    assert _back(course, "folder") == 0
    assert "no e-mail address of ada:" in capsys.readouterr().out
    rows = {row["learner"]: row for row in _table(course / "handback" / "mail-1.csv")}
    assert set(rows) == {"ada", "bea", "'=cmd()", "zoë@uni.example"}
    assert (rows["bea"]["name"], rows["bea"]["first_name"], rows["bea"]["last_name"]) == ("Bea L", "", "")
    assert (rows["ada"]["name"], rows["ada"]["first_name"], rows["ada"]["last_name"]) == ("Ada de L", "Ada", "de L")
    assert rows["bea"]["email"] == "bea@uni.example" and rows["ada"]["email"] == ""
    assert rows["'=cmd()"]["email"] == "'+c@uni.example" and rows["zoë@uni.example"]["email"] == "zoë@uni.example"
    assert all(learner.strip("'=") in Path(row["path"]).read_text() for learner, row in rows.items())


@pytest.mark.slow
def test_what_is_cut_off_is_handed_back_once_more(
    graded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace = os.replace

    def interrupted(made: str, path: Path) -> None:
        if "handback" in str(path):
            raise KeyboardInterrupt
        replace(made, path)

    assert main(["feedback", "--course", str(graded)]) == 0
    for target in ("moodle", "folder"):
        with monkeypatch.context() as patched:
            patched.setattr("os.replace", interrupted)
            assert _back(graded, target) == 130
        assert _parcels(graded) == [], "nothing half-written, under no name"
    assert _back(graded, "moodle") == _back(graded, "folder") == 0
    assert _parcels(graded) == ["mail-1.csv", f"moodle-{LESSON}-1.zip"]
    (graded / "handback" / "record.json").write_text('{"moodle": 7}')
    assert _back(graded, "moodle") == 0
    assert "3 pages" in capsys.readouterr().out, "what cannot be read counts as not handed back"


def test_wrong_calls_say_what_to_do(graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (graded / "handback").write_text("")
    misspelt = "no lesson with a grade is called '01_smal', and may mean: 01_small"
    calls = ((["nobody"], "nobody"), (["--lesson", "01_smal"], misspelt), ([], ""))
    for call, fact in calls:
        assert main(["feedback", "--course", str(graded), "--for", "moodle", *call]) in (1, 2)
        told = capsys.readouterr().err
        assert fact in told
        assert "error: " in told and "  at: " in told and "  next: " in told and "Traceback" not in told
