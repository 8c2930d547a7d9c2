"""Notebooks whose exercises have the same names, in one assignment and week after week: none counts in the place of another."""

from pathlib import Path

import pytest

from nbproof.cli.self_study import check_notebook
from nbproof.errors import UsageError
from nbproof.run.hand_ins import Folder, LessonBook
from nbproof_lms import collect
from nbproof_lms.attendance import nothing_gradable_in
from tests import COURSE
from tests.lms.uploads import WEEKS, folder_of, notebook, zipped


@pytest.fixture
def weeks(tmp_path: Path) -> Path:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'weeks'\n")
    released = {name: notebook(name) for name in WEEKS} | {"ps3/alone": notebook("03_third")}
    return folder_of(tmp_path, {f"release/{name}.ipynb": data for name, data in released.items()})


A1, A2, B1, B2 = (notebook(name, f"of {name}") for name in WEEKS)
CUT, BARE = (
    A1[: A1.index(b'"w"')],
    A1.replace(b"# What", b"# My").replace(b"check('w')", b"1").replace(b"check('v')", b"1"),
)
HIS = {"Bob_2_assignsubmission_file_/problem2.ipynb": A2}
ALL = "ps1/problem1 and ps1/problem2 and ps2/problem1 and ps2/problem2"
ANYWAY = "--lesson LESSON hands it in all the same"


@pytest.mark.parametrize(
    ("asked", "first", "second", "counts", "why"),
    [
        (["ps1/problem1", "ps1/problem2"], A1, b"", {"ps1/problem1": A1}, "it holds ps1/problem1, handed in for ps1/problem2"),
        (["ps1/problem2"], A1, b"", {}, "it holds ps1/problem1, handed in for ps1/problem2"),
        (["ps1"], A1, A2, {"ps1/problem1": A1, "ps1/problem2": A2}, ""),
        (["ps1"], A2, A1, {"ps1/problem1": A1, "ps1/problem2": A2}, ""),
        (["ps1"], A1, B2, {"ps1/problem1": A1}, "it holds ps2/problem2, handed in for ps1"),
        (["ps1"], BARE, b"", {"ps1/problem1": BARE}, "it holds parts of ps1/problem1 and ps2/problem1: is it damaged?"),
        ([None], BARE, B1, {"ps2/problem1": B1}, f"it holds parts of ps1/problem1 and ps2/problem1; {ANYWAY}"),
        (["ps1"], CUT, b"", {}, f"it holds parts of {ALL}; {ANYWAY}"),
        ([None, "ps1/problem1"], CUT, b"", {"ps1/problem1": CUT}, f"it holds parts of {ALL}: is it damaged?"),
        (["ps3"], CUT, b"", {}, f"it holds parts of {ALL}, handed in for ps3/alone"),
        (["ps3"], b"{}", b"", {"ps3/alone": b"{}"}, "its content is of no lesson: is it damaged?"),
        (["ps1"], b"{}", b"", {}, f"its content is of no lesson; {ANYWAY}"),
    ],
)  # fmt: skip
def test_a_notebook_counts_for_what_it_is_or_waits_and_is_named_as_that(
    asked: list[str | None], first: bytes, second: bytes, counts: dict[str, bytes], why: str, weeks: Path
) -> None:
    files = enumerate(filter(None, (first, second)), 1)
    hers = {f"Ada_1_assignsubmission_file_/problem{at}.ipynb": data for at, data in files}
    (weeks / "up.zip").write_bytes(zipped({**hers, **HIS}))
    for lesson in asked:
        lines = collect(COURSE, weeks, [weeks / "up.zip"], lesson=lesson).records
    assert [line.why for line in lines if line.learner == "Ada" and line.needs_person] == [why] * bool(why)
    found = (weeks / "submitted" / "Ada").glob("*/*.ipynb")
    assert {f"{path.parent.name}/{path.stem}": path.read_bytes() for path in found} == counts


def test_who_hands_in_no_notebook_for_an_assignment_is_named_at_each_of_its_notebooks(weeks: Path) -> None:
    (weeks / "up.zip").write_bytes(zipped({**HIS, "Ada_1_assignsubmission_file_/me.png": b""}))
    collect(COURSE, weeks, [weeks / "up.zip"], lesson="ps1")
    assert [one.key.name for one in nothing_gradable_in(weeks, [])] == ["Ada/ps1/problem1", "Ada/ps1/problem2"]


def test_an_earlier_copy_was_handed_in_when_it_came_though_some_of_it_came_again(weeks: Path) -> None:
    """Both hand-ins hold the same problem2. She has the first one, which was in time, count again."""
    for day, first in ((19, A1), (22, notebook("ps1/problem1", "worse"))):
        files = {f"7-1 - Ada - Nov {day}, 2026 1000 AM/problem{at}.ipynb": data for at, data in ((1, first), (2, A2))}
        (weeks / f"{day}.zip").write_bytes(zipped({**files, "8-1 - Bob - Nov 18, 2026 900 AM/problem2.ipynb": A2}))
        collect(COURSE, weeks, [weeks / f"{day}.zip"], lesson="ps1")
    collect(COURSE, weeks, [*weeks.glob("collected/*/replaced/Ada/ps1")], learners=["Ada"], lesson="ps1")
    counts = weeks / "submitted" / "Ada" / "ps1"
    assert (counts / "problem1.ipynb").read_bytes() == A1
    assert (counts / "timestamp.txt").read_text().startswith("2026-11-19 10:00")


@pytest.mark.parametrize(
    ("lessons", "files", "counts"),
    [
        (["ps1/problem1", "ps1/problem2"], {"x": A1, "y": A2}, ["x.ipynb", "y.ipynb"]),
        (["ps1/problem1"], {"x": CUT, "y": B2}, ["x.ipynb"]),
        (["ps1/problem1"], {"x": CUT, "y": b"{}"}, ["problem1.ipynb"]),  # and why none is graded
    ],
)
def test_so_it_is_in_a_folder_of_submitted(
    lessons: list[str], files: dict[str, bytes], counts: list[str], weeks: Path
) -> None:
    place = folder_of(weeks / "submitted" / "ada" / "ps1", {f"{name}.ipynb": data for name, data in files.items()})
    found = Folder(place, "ada", lessons, LessonBook(COURSE, weeks)).hand_ins()
    assert [one.path.name for one in found if bool(one.problem) == (not one.path.exists())] == counts


@pytest.mark.parametrize("name", ["ps2", "ps[3]"])
def test_a_notebook_of_ones_own_is_checked_as_what_it_is_called_where_nothing_else_tells(
    name: str, weeks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: object, __: Path, ___: object, lesson: str) -> None:
        raise UsageError(lesson, "", "")

    monkeypatch.setattr("nbproof.cli.self_study.read_blueprint", stop)
    folder_of(weeks, {f"learn/{name}/problem1.ipynb": BARE, "release/ps[3]/problem1.ipynb": notebook("ps2/problem1")})
    with pytest.raises(UsageError) as told:
        check_notebook(COURSE, weeks, weeks / "learn" / name / "problem1.ipynb", [*WEEKS, "ps[3]/problem1"])
    assert told.value.fact == f"{name}/problem1"
