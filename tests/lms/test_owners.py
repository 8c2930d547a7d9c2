"""Three rules say who handed in a file, for the whole upload, at one depth; other files are listed, and replace nothing."""

from __future__ import annotations

import json
import os
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nbproof.command import course_command
from nbproof.key import Key
from nbproof_lms import Collected, collect
from nbproof_lms.attendance import late_by_lms
from nbproof_lms.roster import Member, enrol
from tests import COURSE, main
from tests.lms.conftest import Collecting
from tests.lms.uploads import folder_of, notebook, zipped

HERS, BOBS, EVES = (notebook("01_first", name) for name in ("mallory", "bob", "eve"))
STAMP = b"2026-01-01 10:00:00.000000 UTC"
CLASS = {"bob/01_first.ipynb": BOBS, "eve/01_first.ipynb": EVES}
PEOPLE = [Member("bob", "Bob Roe", "bob@u.edu"), Member("eve", "Eve Low"), Member("mallory", "Mallory Moe")]
LATER = datetime(2126, 12, 1, tzinfo=UTC).timestamp()


def _filed(course: Path) -> dict[str, bytes]:
    """By learner: the notebook of the first lesson in submitted/."""
    return {path.parts[-3]: path.read_bytes() for path in course.glob("submitted/*/01_first/01_first.ipynb")}


def _asked(collected: Collected) -> set[str]:
    """What is listed, as nobody's."""
    assert {(line.status, line.learner) for line in collected.needs_person} <= {("no learner known", "")}
    return {line.name for line in collected.needs_person}


FORGED = {
    "Canvas": {"mallory/bob_1_2_01_first.ipynb": HERS},
    "Moodle, packed": {"mallory/work.zip": zipped({"bob_77_assignsubmission_file_/01_first.ipynb": HERS})},
    "Brightspace": {"mallory/1-2 - bob - Nov 9, 2026 1000 AM/01_first.ipynb": HERS},
    "a lesson's folder": {"mallory/01_first/bob/x.ipynb": HERS},
    "a loose file": {"mallory/01_first_bob.ipynb": HERS},
    "a packed folder": {"mallory.zip": zipped({"bob/01_first.ipynb": HERS})},
    "an archive that names nobody": {"work.zip": zipped({"bob_1_2_x.ipynb": HERS})},
    "a mail": {"mallory/note.eml": b"From: bob@u.edu\nContent-Disposition: attachment; filename=x.ipynb\n\n" + HERS},
    "a time beside it": {"mallory/01_first/x.ipynb": HERS, "mallory/01_first/timestamp.txt": STAMP},
}
"""What mallory's own folder or archive holds."""


@pytest.mark.parametrize("roster", [[], PEOPLE])
@pytest.mark.parametrize("attack", FORGED)
def test_nobody_hands_in_as_another_nor_chooses_a_date(
    attack: str, roster: list[Member], collecting: Collecting, course: Path
) -> None:
    enrol(course, roster)
    collecting({**CLASS, **FORGED[attack]}, "spring.zip")
    found = _filed(course)
    assert (found.pop("bob"), found.pop("eve")) == (BOBS, EVES)
    assert found.keys() <= {"mallory"}
    assert not list(course.glob("submitted/*/*/timestamp.txt"))
    before = _filed(course)
    assert _asked(collecting(FORGED[attack], "hers is all that came.zip"))
    assert _filed(course) == before


LMS = {
    "Canvas": "{0}_{2}_{3}_x.ipynb",
    "Moodle": "{1}_{2}_assignsubmission_file_/x.ipynb",
    "Brightspace": "{2}-{3} - {1} - Nov {4}, 2026 1149 PM/x.ipynb",
}
"""Name without spaces, name, number, number of the hand-in, day."""


def _called(system: str, name: str, number: int, handed_in: int = 900) -> str:
    bare = "".join(reversed(name.replace("-", " ").split())).lower()
    return LMS[system].format(bare, name, number, handed_in, number % 28 + 1)


def _download(system: str, *more: tuple[str, int]) -> dict[str, bytes]:
    return {_called(system, "Bob Roe", 7): BOBS, _called(system, "Eve Low", 8): EVES} | {
        _called(system, *one): HERS for one in more
    }


IMITATED = {
    "roebob_7_999_01_first.ipynb": HERS,
    "w.zip": zipped({"Bob Roe_7_assignsubmission_file_/01_first.ipynb": HERS, "bob/x.ipynb": HERS + b" "}),
    "7-999 - Bob Roe - Nov 9, 2026 1000 AM - x.ipynb": HERS,
}


@pytest.mark.parametrize("roster", [[], PEOPLE])
@pytest.mark.parametrize("system", LMS)
def test_a_name_within_an_lmss_name_is_the_learners_own(
    system: str, roster: list[Member], collecting: Collecting, course: Path
) -> None:
    enrol(course, roster)
    for at, (file, data) in enumerate(IMITATED.items()):
        hers = _called(system, "Mallory Moe", 11).removesuffix("x.ipynb") + file
        collecting({**_download(system), hers: data}, f"hooks{at}.zip")
        found = _filed(course)
        assert {BOBS, EVES} <= set(found.values())
        assert {found.get(who) for who in ("bob", "Bob Roe", "roebob")} <= {BOBS, None}


def test_a_groups_file_is_one_members_and_the_others_are_named_as_a_question(
    collecting: Collecting, course: Path
) -> None:
    """Canvas has one file for a group, with the group's name and the number of one of them, which is another's the next time."""
    enrol(
        course,
        [Member("bob", "Bob Roe", also=("7",)), Member("eve", "Eve Low", also=("8",)), Member("kim", also=("9",))],
    )
    enrol(course, [Member(member, f"{member} X", also=(number,)) for member, number in (("zoe", "5"), ("max", "6"))])
    names = ("team1_LATE_7_90", "loweve_8_91", "kk_9_92")
    came = collecting({f"{name}_x.ipynb": notebook("01_first", name) for name in names})
    told = [one for one in came.notes if "MEMBER" in one]
    file = next(course.glob("collected/*/files/*/team1_LATE_7_90_x.ipynb"))
    assert told == [f"  bob (team1): {course_command(f'collect {file} --learner MEMBER', course)}"]
    given = collect(COURSE, course, [file], learners=["zoe", "max"])
    assert not given.needs_person and {one.learner for one in given.records} == {"zoe", "max"}
    for member in ("zoe", "max"):
        assert (course / f"submitted/{member}/01_first/01_first.ipynb").read_bytes() == file.read_bytes()
    lists = [json.loads(path.read_text())["files"] for path in sorted(course.glob("collected/*/list.json"))]
    assert [{one["learner"] for one in files} for files in lists[1:]] == [{"zoe"}, {"max"}]
    assert late_by_lms(course) == {Key(member, "01_first") for member in ("bob", "zoe", "max")}
    # What every member has is no question any more; a new file is one for those who have the old one.
    again = {f"{name}_x.ipynb": notebook("01_first", name) for name in names}
    assert not any("--learner" in one for one in collecting(again, "again.zip").notes)
    del again["team1_LATE_7_90_x.ipynb"]
    again["team1_6_95_x-1.ipynb"] = notebook("01_first", "new")
    (told_now,) = (one for one in collecting(again, "third.zip").notes if "--learner" in one and "repeated" not in one)
    assert told_now.startswith("  max (team1): replaces what bob, zoe still have: ")
    assert " --learner bob --learner zoe " in told_now
    assert told_now in collecting(again, "third.zip").notes
    words = shlex.split(told_now.partition(" -m course ")[2])
    assert main(words) == 0
    assert late_by_lms(course) == frozenset()


@pytest.mark.parametrize("files", [["roebob_7_90_a.ipynb", "loweve_8_91_b.ipynb"], ["roebob_7_90_a.ipynb"], []])
def test_canvass_own_student_is_told_and_needs_nobody(files: list[str], collecting: Collecting, course: Path) -> None:
    """Whoever is called so, and has a number on the roster, is a learner."""
    export = course.parent / "canvas.csv"
    head = "Student,ID,SIS Login ID,01_first (5)\n    Points Possible,,,4\n"
    export.write_text(f'{head}"Roe, Bob",7,bob,\n"Low, Eve",8,eve,\n"Student, Test",9999,,\n')
    data = {name: notebook("01_first", name) for name in (*files, "studenttest_9999_92_c.ipynb")}
    came = collecting(data, names=export)
    told = {line.name: line.status for line in came.records}
    assert told["studenttest_9999_92_c.ipynb"] == "test student" and "studenttest" not in _filed(course)
    assert [name for name in _asked(came) if "studenttest" in name] == []
    assert f"{export.name}, line 5: Canvas's own student for tests is left out" in came.notes
    assert any(note.startswith("added to the roster: ") for note in came.notes)
    enrol(course, [Member("tess", "Test Student", also=("9999",))])
    assert "studenttest_9999_92_c.ipynb" not in {
        one.name for one in collecting(data).records if one.status == "test student"
    }


LONG = "x" * 250
SPLIT_TWICE = {
    "Moodle": "Bob Roe_7_assignsubmission_file__9_assignsubmission_file_y.ipynb",
    "Moodle, a long name": f"Bob Roe_7_assignsubmission_file_{LONG}_9_assignsubmission_file_y.ipynb",
    "Brightspace": "7-900 - Bob Roe - Nov 1, 2026 900 AM - Nov 24, 2026 1149 PM/x.ipynb",
    "Canvas, a name that ends in a number": "roebob_7_55_101_w.ipynb",
    "Canvas, late": "roebob_LATE_7_99999_LATE_55_101_w.ipynb",
    "Canvas, her own": "lowmallory_55_300__LATE_55_190_x.ipynb",
}
"""What an LMS makes of names like Roebob_7-_99999: it takes ``_7_`` out of a name, and afterwards the hyphen."""


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("case", SPLIT_TWICE)
def test_a_name_that_can_be_read_in_two_ways_is_nobodys(
    case: str, numbers: bool, collecting: Collecting, course: Path
) -> None:
    also = {"bob": "7", "eve": "8", "mallory": "55"}
    enrol(course, [Member(one.learner, one.name, "", (also[one.learner],) if numbers else ()) for one in PEOPLE])
    collected = collecting({**_download(case.partition(",")[0]), SPLIT_TWICE[case]: HERS}, "hooks26.zip")
    assert SPLIT_TWICE[case] in _asked(collected)
    assert _filed(course).get("eve") == EVES and HERS not in _filed(course).values()


def test_where_the_roster_has_everybodys_number_a_files_own_numbers_are_none(
    collecting: Collecting, course: Path
) -> None:
    files = {"roebob_7_900_2_300_x.ipynb": BOBS, "loweve_8_901_11_400_x.ipynb": EVES}
    assert len(_asked(collecting(files, "one.zip"))) == 2
    enrol(course, [Member("bob", "Bob Roe", "", ("7",)), Member("eve", "Eve Low", "", ("8",))])
    assert not collecting(files, "two.zip").needs_person
    assert _filed(course) == {"bob": BOBS, "eve": EVES}


MAY_BE_OF_TWO = [
    "moemallory_12_950_Bob Roe_7_assignsubmission_file_{}.ipynb",
    "12-950 - Mallory Moe - Nov 9, 2026 1000 AM - x_7_assignsubmission_file_{}.ipynb",
]


@pytest.mark.parametrize("name", MAY_BE_OF_TWO)
def test_what_two_systems_may_have_named_is_nobodys_unless_others_show_which(
    name: str, collecting: Collecting, course: Path
) -> None:
    enrol(course, PEOPLE)
    assert len(_asked(collecting({name.format("x"): HERS, name.format("y"): HERS + b" "}, "one.zip"))) == 2
    assert not _filed(course)
    system = "Canvas" if name.startswith("moe") else "Brightspace"
    assert not collecting({**_download(system), name.format("x"): HERS}, "two.zip").needs_person
    assert _filed(course) == {"bob": BOBS, "eve": EVES, "mallory": HERS}


LOOSE = ["bob.ipynb", "bob_01_first.ipynb", "01_first-Bob Roe.ipynb", "01_first_bob.zip", "bob@u.edu.ipynb", "bob.txt"]


@pytest.mark.parametrize("roster", [[], PEOPLE])
@pytest.mark.parametrize("name", LOOSE)
def test_the_name_of_a_file_is_its_learners_own_choice(
    name: str, roster: list[Member], collecting: Collecting, course: Path
) -> None:
    """By itself, beside another one's, or beside folders: it is listed, and nobody's copy is replaced."""
    enrol(course, roster)
    loose = {name: zipped({"x.ipynb": HERS}) if name.endswith(".zip") else HERS, "eve.ipynb": EVES}
    assert len(_asked(collecting(loose, "mails"))) == 2 and not _filed(course)
    before = {"bob/x.ipynb": BOBS, "eve/x.ipynb": EVES}
    collected = collecting({**before, **loose}, "spring.zip")
    assert _filed(course) == {"bob": BOBS, "eve": EVES} and len(_asked(collected)) == 2
    collecting(loose, "again.zip")
    assert _filed(course) == {"bob": BOBS, "eve": EVES}


def test_a_file_whose_whole_name_a_person_has_put_into_a_table_is_theirs(collecting: Collecting, course: Path) -> None:
    enrol(course, [Member("bob", also=("try.ipynb",)), Member("eve", also=("01_first_eve.ipynb",)), Member("mallory")])
    files = {"try.ipynb": BOBS, "01_first_eve.ipynb": EVES, "bob.ipynb": HERS}
    assert _asked(collecting(files, "mails")) == {"bob.ipynb"}
    assert _filed(course) == {"bob": BOBS, "eve": EVES}


def test_a_backslash_in_a_name_that_a_unix_packed_makes_no_folder(collecting: Collecting, course: Path) -> None:
    enrol(course, PEOPLE)
    forged = {"bob\\x.ipynb": HERS, "eve\\x.ipynb": HERS + b" "}
    lines = collecting({**CLASS, **forged}, "mails.zip").needs_person
    assert {(line.status, line.learner) for line in lines} == {("unsafe path", "")}
    assert _filed(course) == {"bob": BOBS, "eve": EVES}


SCRIPTS = {name: b"\n".join(b"# " + line for line in data.splitlines()) for name, data in CLASS.items()}


def test_what_others_sent_as_scripts_says_as_well_how_names_are_to_be_read(
    collecting: Collecting, course: Path
) -> None:
    files = {name.replace(".ipynb", ".py"): data for name, data in SCRIPTS.items()}
    assert not collecting({**files, "zed/x.ipynb": HERS}, "folders").needs_person
    assert set(_filed(course)) == {"bob", "eve", "zed"}
    enrol(course, PEOPLE)
    forged = {"roebob_7_99_x.ipynb": HERS, "loweve_8_98_x.ipynb": HERS + b" "}
    loose = {name.replace("/", "_"): data for name, data in files.items()}
    assert _asked(collecting({**loose, **forged}, "mails")) >= set(forged)
    assert set(_filed(course)) == {"bob", "eve", "zed"} and HERS not in (_filed(course)["bob"], _filed(course)["eve"])


def test_an_index_that_names_what_learners_called_their_files_is_no_answer(
    collecting: Collecting, course: Path
) -> None:
    hers = _called("Brightspace", "Mallory Moe", 11).replace("x.ipynb", "double_it half_it.ipynb")
    files = {**_download("Brightspace"), hers: HERS, "index.html": f"<ul><li>{hers}</ul>".encode()}
    assert not collecting(files, "hooks26.zip").needs_person
    assert _filed(course) == {"Bob Roe": BOBS, "Eve Low": EVES, "Mallory Moe": HERS}


def test_a_folder_that_a_person_made_for_a_learner_is_that_persons_word(course: Path, tmp_path: Path) -> None:
    """Unless two are called after one learner in two ways."""
    enrol(course, PEOPLE)
    came = folder_of(tmp_path / "came", {**CLASS, "zed/x.ipynb": HERS, "01_first_mallory.ipynb": HERS})
    assert _asked(collect(COURSE, course, [came])) == {"zed/x.ipynb", "01_first_mallory.ipynb"}
    folder_of(came, {"bob/again.ipynb": HERS})
    os.utime(came / "bob/again.ipynb", (LATER, LATER))
    collect(COURSE, course, [came])
    assert _filed(course) == {"bob": HERS, "eve": EVES}
    folder_of(came, {"Roe, Bob/x.ipynb": BOBS})
    assert {name.partition("/")[0] for name in _asked(collect(COURSE, course, [came]))} >= {"bob", "Roe, Bob"}
    assert _filed(course)["bob"] == HERS


@pytest.mark.parametrize("name", ["bob.", "bob ", "Bob", "Bób", "..bob", "01_first"])
def test_without_a_roster_folders_that_are_nearly_the_same_are_asked_about(
    name: str, collecting: Collecting, course: Path
) -> None:
    assert f"{name}/x.ipynb" in _asked(collecting({f"{name}/x.ipynb": HERS, **CLASS}))
    assert HERS not in _filed(course).values()


def test_nor_is_one_a_learner_that_may_be_a_section(collecting: Collecting, course: Path) -> None:
    files = {"A/jane.ipynb": HERS, "A/bob.ipynb": BOBS, "B/jane/x.ipynb": HERS, "B/eve/x.ipynb": EVES}
    assert _asked(collecting({**files, **CLASS}, "class")) == set(files)
    assert _filed(course) == {"bob": BOBS, "eve": EVES}


@pytest.mark.parametrize("around", ["spring", "01_first", "submissions/01_first", "Downloads"])
@pytest.mark.parametrize("system", [*LMS, ""])
def test_folders_around_everything_are_no_learners(
    system: str, around: str, collecting: Collecting, course: Path
) -> None:
    files = _download(system) if system else CLASS
    assert not collecting({f"{around}/{name}": data for name, data in files.items()}, "spring (1).zip").needs_person
    assert sorted(_filed(course).values()) == sorted([BOBS, EVES])


@pytest.mark.parametrize("roster", [[], PEOPLE])
@pytest.mark.parametrize("around", ["CS101", "submission_9", "mallory", "mallory/01_first", "bob_1_2_x"])
@pytest.mark.parametrize("system", [*LMS, ""])
def test_but_one_that_may_be_a_learners_holds_no_names(
    system: str, around: str, roster: list[Member], collecting: Collecting, course: Path
) -> None:
    enrol(course, roster)
    files = {f"{around}/{name}": data for name, data in (_download(system) if system else CLASS).items()}
    assert _asked(collecting(files, "spring.zip")) == set(files)
    assert not _filed(course)


def test_an_upload_that_is_called_like_one_persons_may_be_theirs(collecting: Collecting, course: Path) -> None:
    """An archive that she packed, collected by itself: the names in it may be her choice."""
    collecting({**CLASS, "mallory/x.ipynb": HERS}, "first.zip")
    before = _filed(course)
    for name in ("mallory (1).zip", "moemallory_9_999_work.zip"):
        assert _asked(collecting({"bob/x.ipynb": HERS, "eve/x.ipynb": HERS + b" "}, name))
    assert _filed(course) == before


BY_ITSELF = {
    "Canvas": {"roebob_7_900_x.ipynb": HERS, "roebob_7_901_x.ipynb": HERS + b" "},
    "a folder": {"bob/x.ipynb": HERS, "zed/x.ipynb": HERS + b" "},
    "an archive": {"bob.zip": zipped({"x.ipynb": HERS})},
}


@pytest.mark.parametrize("upload", ["work.zip", "mails"])
@pytest.mark.parametrize("case", BY_ITSELF)
def test_all_that_one_learner_packed_or_sent_says_nothing_of_whose_it_is(
    case: str, upload: str, collecting: Collecting, course: Path
) -> None:
    enrol(course, PEOPLE)
    collected = collecting(BY_ITSELF[case], upload)
    assert {(line.learner, line.time) for line in collected.needs_person} == {("", None)}
    assert not _filed(course)
    collecting(BY_ITSELF[case], upload, learners=["mallory"])
    assert set(_filed(course)) <= {"mallory"}


@pytest.mark.parametrize("roster", [[], PEOPLE])
def test_a_class_does_not_become_one_learners_by_a_word(
    roster: list[Member], collecting: Collecting, course: Path
) -> None:
    enrol(course, roster)
    collecting(CLASS, "first.zip")
    before = _filed(course)
    corrected = {"bob/01_first.ipynb": BOBS, "eve/01_first.ipynb": HERS}
    collected = collecting(corrected, "second.zip", learners=["bob"])
    assert _filed(course) == before
    assert _asked(collected) == {"eve/01_first.ipynb"}
    (asked,) = collected.needs_person
    collect(COURSE, course, [course / asked.path_in_course], learners=["bob"])
    assert _filed(course) == {**before, "bob": HERS}, "one by one it is the person's word"


@pytest.mark.parametrize("spelling", ["Bob Róe", "bob@u.edu", "Roe, Bob", "Bob Roe"])
@pytest.mark.parametrize("system", LMS)
def test_two_of_one_download_who_lead_to_one_learner_are_listed(
    system: str, spelling: str, collecting: Collecting, course: Path
) -> None:
    """Their numbers differ: one of the two may be somebody else."""
    enrol(course, PEOPLE)
    collecting(CLASS, "first.zip")
    hers = _called(system, spelling, 11).replace(" Roe,", " Roe")
    lines = _asked(collecting({**_download(system), hers: HERS}, "hooks26.zip"))
    assert hers in lines and lines <= {hers, _called(system, "Bob Roe", 7)}
    assert _filed(course)["bob"] == BOBS


@pytest.mark.parametrize("roster", [[], PEOPLE])
@pytest.mark.parametrize("system", LMS)
def test_a_number_is_one_persons_in_all_uploads(
    system: str, roster: list[Member], collecting: Collecting, course: Path
) -> None:
    """Eve calls herself Bob: before he hands in again, beside him, and where he has handed in nothing."""
    enrol(course, roster)
    assert not collecting(_download(system), "first.zip").needs_person
    before = _filed(course)
    other = {_called(system, "Al Poe", 9): HERS}
    for eve in (8, 11):
        hers = _called(system, "Bob Roe", eve, 999)
        assert hers in _asked(collecting({**other, hers: HERS + b" "}, f"second{eve}.zip"))
        collected = collecting({**_download(system), hers: HERS + b" "}, f"third{eve}.zip")
        assert hers in _asked(collected)
    assert {who: data for who, data in _filed(course).items() if who in before} == before


@pytest.mark.parametrize("system", LMS)
def test_whom_the_roster_calls_otherwise_now_is_the_same_person(
    system: str, collecting: Collecting, course: Path
) -> None:
    collecting(_download(system), "first.zip")
    enrol(course, [Member("b1", "Bob Roe", "", ("roebob",)), Member("e1", "Eve Low", "", ("loweve",))])
    assert not collecting(_download(system), "second.zip").needs_person
    hers = _called(system, "Bob Roe", 11, 999)
    assert hers in _asked(collecting({hers: HERS, _called(system, "Eve Low", 8): EVES}, "third.zip"))


@pytest.mark.parametrize("system", LMS)
def test_who_came_first_under_a_name_keeps_nobody_out(system: str, collecting: Collecting, course: Path) -> None:
    """Mallory called herself Bob before he handed in: both are listed once he does."""
    enrol(course, PEOPLE)
    hers, other = _called(system, "Bob Roe", 11, 999), {_called(system, "Eve Low", 8): EVES}
    collecting({hers: HERS, **other}, "first.zip")
    collected = collecting({**_download(system), hers: HERS + b" "}, "second.zip")
    assert _asked(collected) == {hers, _called(system, "Bob Roe", 7)}
    assert _filed(course)["bob"] == HERS


def test_moodles_number_is_another_in_each_lesson(collecting: Collecting, course: Path) -> None:
    other = notebook("02_other", "o")
    files = {f"01_first/{name}": data for name, data in _download("Moodle").items()}
    files |= {f"02_other/{_called('Moodle', name, at)}": other for name, at in (("Bob Roe", 8), ("Eve Low", 7))}
    assert not collecting(files, "hooks26.zip").needs_person
    # In one download they are two, whatever lesson their works are of.
    two = {_called("Moodle", "Jo Doe", 21): BOBS, _called("Moodle", "Jo Doe", 22): other}
    assert _asked(collecting({**two, **_download("Moodle")}, "more.zip")) == set(two)


def test_a_number_that_the_roster_has_says_who_it_is(collecting: Collecting, course: Path) -> None:
    enrol(course, [Member("bob", "Bob Roe", "", ("7",)), Member("eve", "Eve Low", "", ("8",)), Member("al", "Al Poe")])
    files = {"somebody_7_901_x.ipynb": BOBS, "loweve_8_902_x.ipynb": EVES, "poeal_9_903_x.ipynb": HERS}
    assert not collecting(files, "hooks26.zip").needs_person
    assert _filed(course) == {"bob": BOBS, "eve": EVES, "al": HERS}
    wrong = {"roebob_29_999_x.ipynb": HERS, "loweve_7_998_x.ipynb": HERS, "zed_30_997_x.ipynb": HERS}
    honest = {name: data for name, data in files.items() if not name.startswith("somebody")}
    assert _asked(collecting({**wrong, **honest}, "more.zip")) == set(wrong)
    moodle = {_called("Moodle", "Zed Zoo", 7): HERS, _called("Moodle", "Bob Roe", 17): BOBS, **_download("Moodle")}
    asked = _asked(collecting(moodle, "moodle.zip"))
    assert _called("Moodle", "Zed Zoo", 7) in asked, "it is no number of Moodle's"


AS_AN_LMS = {system: form.replace("/x.ipynb", "w.ipynb") for system, form in LMS.items()} | {"a folder": LMS["Moodle"]}


@pytest.mark.parametrize("form", AS_AN_LMS)
@pytest.mark.parametrize("layout", ["{}/x.ipynb", "01_first/{}/x.ipynb"])
def test_one_persons_files_never_change_how_others_are_read(
    layout: str, form: str, collecting: Collecting, course: Path
) -> None:
    """However many files are called as an LMS would call those of however many learners."""
    enrol(course, [Member(f"{name}") for name in ("ada", "bob", "eve", "mallory")])
    answers = {name: notebook("01_first", name) for name in ("ada", "bob", "eve")}
    honest = {layout.format(who): data for who, data in answers.items()}
    wrapper = "01_first/" if layout.startswith("01_first/") else ""
    names = [*answers, *(f"invented{at}" for at in range(9))]
    hers = {wrapper + AS_AN_LMS[form].format(who, who, at, 900 + at, 9): HERS for at, who in enumerate(names, 1)}
    assert _asked(collecting({**honest, **hers}, "hooks26.zip")) == set(hers)
    assert _filed(course) == answers and not list(course.glob("submitted/*/*/timestamp.txt"))


ODD_NAMES = {
    "Canvas": ["bob_1_text_12_950_x.ipynb", "_12_950_x.ipynb", "m" * 150 + "_12_950_x.ipynb"],
    "Moodle": ["m" * 201 + "_12_assignsubmission_file_x.ipynb"],
    "Brightspace": ["97-98 - -m - Nov 9, 2026 1000 AM - x.ipynb", "97-98 -  - Nov 9, 2026 1000 AM - x.ipynb"],
}


@pytest.mark.parametrize("system", ODD_NAMES)
def test_whatever_somebody_is_called_the_others_are_read(system: str, collecting: Collecting, course: Path) -> None:
    for at, odd in enumerate(ODD_NAMES[system]):
        collecting({**_download(system), odd: HERS, "rubric.pdf": b"%PDF-1.7"}, f"hooks{at}.zip")
        assert {BOBS, EVES} <= set(_filed(course).values()), odd


def test_what_deviates_from_a_download_makes_all_of_it_somebodys_question(collecting: Collecting, course: Path) -> None:
    assert len(_asked(collecting({**_download("Canvas"), "mallory/01_first.ipynb": HERS}, "spring.zip"))) == 3
    assert not _filed(course)


def test_a_vowel_is_no_accent(collecting: Collecting, course: Path) -> None:
    names = ("कि", "का", "が", "か", "กิ", "กา")
    files = {_called("Moodle", name, at): notebook("01_first", name) for at, name in enumerate(names)}
    assert not collecting(files, "hooks26.zip").needs_person
    assert set(_filed(course)) == set(names)
