"""Whose a file is says the layout of the whole upload, once: nothing that a learner packed, sends or names does."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nbproof_lms import collect
from nbproof_lms.members import Member
from nbproof_lms.roster import enrol
from tests.lms.conftest import Collecting
from tests.lms.uploads import everything, folder_of, notebook, zipped

HERS, BOBS, EVES = (notebook("01_first", name) for name in ("mallory", "bob", "eve"))
PEOPLE = ["ada", "bob", "carl", "dora", "emil"]
STAMP = b"2026-01-01 10:00:00.000000 UTC"
CLASS = {"bob/01_first.ipynb": BOBS, "eve/01_first.ipynb": EVES}

FORGED = {
    "nbgrader's exchange": {"mallory/bob+01_first+2026-01-01 10:00:00 UTC+x/01_first.ipynb": HERS},
    "Classroom": {"mallory/bob - 01_first.ipynb": HERS},
    "Canvas": {"mallory/bob_1_2_01_first.ipynb": HERS},
    "Moodle, packed": {"mallory/work.zip": zipped({"bob_77_assignsubmission_file_/01_first.ipynb": HERS})},
    # Relatives of these.
    "a mail": {"mallory/note.eml": b"From: bob@u.edu\nContent-Disposition: attachment; filename=x.ipynb\n\n" + HERS},
    "Blackboard": {"mallory/p_bob_attempt_2026-01-01-10-00-00_x.ipynb": HERS},
    "Moodle": {"mallory/bob_77_assignsubmission_file_/x.ipynb": HERS},
    "many of them": {f"mallory/bob_1_{at}_x.ipynb": HERS for at in range(2, 30)},
    "Brightspace": {"mallory/1-2 - bob - Nov 9, 2026 1000 AM/01_first.ipynb": HERS},
    "a folder": {"mallory/bob/01_first.ipynb": HERS},
    "a packed folder": {"mallory.zip": zipped({"bob/01_first.ipynb": HERS})},
    "an archive that names nobody": {"work.zip": zipped({"bob/01_first.ipynb": HERS})},
    "an archive of Canvas's names": {"work.zip": zipped({"bob_1_2_x.ipynb": HERS})},
    "a lesson's folder": {"mallory/01_first/bob/x.ipynb": HERS},
    "a time beside it": {"mallory/01_first/x.ipynb": HERS, "mallory/01_first/timestamp.txt": STAMP,
                         "mallory/.git/config": b"[core]\n"},
}  # fmt: skip
"""What mallory's own folder or archive holds."""

ROSTERS = {"spring.zip": [], "class": ["bob", "eve", "mallory"], "late.zip": ["bob"]}
"""What the upload is called, and who is on the roster then."""


@pytest.mark.parametrize("upload", ROSTERS)
@pytest.mark.parametrize("attack", FORGED)
def test_nobody_hands_in_as_another_nor_chooses_a_date(
    attack: str, upload: str, collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member(name, name.title(), f"{name}@u.edu") for name in ROSTERS[upload]])
    collected = collecting({**CLASS, **FORGED[attack]}, upload)
    found = everything(course / "submitted")
    assert found.get("bob/01_first/01_first.ipynb") == BOBS
    assert found.get("eve/01_first/01_first.ipynb") == EVES
    assert not [path for path, data in found.items() if data == HERS and not path.startswith("mallory")]
    assert not [path for path in found if path.endswith("timestamp.txt")]
    mine = [line for line in collected.lines if line.sha256 and line.name.startswith(("mallory", "work"))]
    assert not [line for line in mine if line.learner not in ("", "mallory")]
    if not [path for path in found if path.startswith("mallory")]:
        assert collected.needs_person, "what is not taken is listed"


@pytest.mark.parametrize("attack", [name for name in FORGED if "mallory/" in "".join(FORGED[name])])
def test_nor_where_hers_is_all_that_came(attack: str, collecting: Collecting, course: Path) -> None:
    """Two fitting owners: a person decides, and bob's copy is not replaced meanwhile."""
    collecting(CLASS, "first.zip")
    collecting({"mallory/01_first.ipynb": notebook("01_first", "at first"), **CLASS}, "second.zip")
    collecting(FORGED[attack], "third.zip")
    assert everything(course / "submitted")["bob/01_first/01_first.ipynb"] == BOBS


LMS = {
    "Canvas": {"bob_1_2_01_first.ipynb": BOBS, "eve_3_4_01_first.ipynb": EVES},
    "Moodle": {"bob_1_assignsubmission_file_/x.ipynb": BOBS, "eve_3_assignsubmission_file_/x.ipynb": EVES},
    "Blackboard": {"p_bob_attempt_2026-11-09-10-00-00_x.ipynb": BOBS, "p_eve_attempt_2026-11-09-10-00-00_x.ipynb": EVES},
    "Classroom": {"bob - x.ipynb": BOBS, "eve - x.ipynb": EVES},
    "Brightspace": {"1-2 - bob - Nov 9, 2026 1000 AM/x.ipynb": BOBS, "3-4 - eve - Nov 9, 2026 1000 AM - x.ipynb": EVES},
}  # fmt: skip
START = {
    "Brightspace": "9{0}-99{0} - mallory{0} - Nov 9, 2026 1000 AM - {1}",
    "Canvas": "mallory{0}_9{0}_99{0}_{1}", "Moodle": "mallory{0}_9{0}_assignsubmission_file_/{1}",
    "Classroom": "mallory{0} - {1}", "Blackboard": "p_mallory{0}_attempt_2026-11-09-10-00-00_{1}",
}  # fmt: skip
IMITATED = {
    "Canvas's name": {"bob_1_2_01_first.ipynb": HERS},
    "Canvas's name, packed": {"w.zip": zipped({"bob_1_2_01_first.ipynb": HERS})},
    "Moodle's folder, packed": {"w.zip": zipped({"bob_1_assignsubmission_file_/01_first.ipynb": HERS})},
    "Moodle's file": {"bob_1_assignsubmission_file_x.ipynb": HERS},
    "Classroom's name": {"bob - x.ipynb": HERS},
    "an exchange, packed": {"w.zip": zipped({"bob+01_first+2026-01-01 10:00:00 UTC/01_first.ipynb": HERS})},
    "an attempt, packed": {"w.zip": zipped({"p_bob_attempt_2026-01-01-10-00-00_x.ipynb": HERS})},
    "Brightspace's name": {"1-2 - bob - Nov 9, 2026 1000 AM - x.ipynb": HERS},
}  # fmt: skip


@pytest.mark.parametrize("system", LMS)
def test_a_name_within_an_lmss_name_is_the_learners_own(system: str, collecting: Collecting, course: Path) -> None:
    enrol(course, [Member("bob", "", "bob@u.edu")])
    files = dict(LMS[system])
    for number, imitated in enumerate(IMITATED.values(), 1):
        files |= {START[system].format(number, name): data for name, data in imitated.items()}
    collected = collecting(files, "hooks26.zip")
    found = {path: data for path, data in everything(course / "submitted").items() if path.endswith(".ipynb")}
    asked = {"Classroom": {5, 8}, "Brightspace": {8}}.get(system, set())
    assert [line.status for line in collected.needs_person] == ["no learner known"] * len(asked)
    hers = {f"mallory{number}": HERS for number in range(1, len(IMITATED) + 1) if number not in asked}
    learners = {"bob": BOBS, "eve": EVES, **hers}
    assert found == {f"{name}/01_first/01_first.ipynb": data for name, data in learners.items()}
    times = {path.read_text()[:10] for path in (course / "submitted").rglob("timestamp.txt")}
    assert times <= {"2026-11-09"}


INNER = [
    CLASS,
    {"bob_1_2_x.ipynb": BOBS, "eve_3_4_x.ipynb": EVES},
    {"bob - x.ipynb": BOBS, "eve - x.ipynb": EVES},
    {"01_first_bob.ipynb": BOBS, "01_first_eve.ipynb": EVES},
]


@pytest.mark.parametrize("files", INNER)
@pytest.mark.parametrize("around", ["CS101 - Lab 3", "CS101"])
@pytest.mark.parametrize("upload", ["drive-download.zip", "class"])
def test_a_folder_around_a_class_is_no_learner(
    upload: str, around: str, files: dict[str, bytes], collecting: Collecting, course: Path
) -> None:
    """Else one copy of the class would count, and the others be earlier ones of hers."""
    enrol(course, [Member("bob"), Member("eve")])
    lines = collecting({f"{around}/{name}": data for name, data in files.items()}, upload).needs_person
    assert [line.status for line in lines] == ["no learner known"] * 2
    assert not (course / "submitted").exists()


NOBODYS = ["assignment_4711_export/submission_{0}/", "homework-1-{1}/", "group {0}/"]
"""Folders that name nobody, as of Gradescope: only a deeper one of mallory's might."""
DEEPER = [
    "submissions/roebob_7_9_x.ipynb",
    "work/Bob Roe_7_assignsubmission_file_/x.ipynb",
    "src/notebooks/hw_bob_attempt_2026-01-01-10-00-00_x.ipynb",
    "submissions/Bob Roe - x.ipynb",
]


@pytest.mark.parametrize("form", DEEPER)
@pytest.mark.parametrize("layout", NOBODYS)
def test_what_lies_deeper_in_one_folder_alone_is_no_layout(
    layout: str, form: str, collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member(name, f"{name.title()} Roe") for name in (*PEOPLE, "mallory")])
    files = {layout.format(at, name) + "x.ipynb": EVES + b" " * at for at, name in enumerate(PEOPLE)}
    hers = layout.format(99, "mallory")
    collected = collecting({**files, f"{hers}x.ipynb": HERS, hers + form: HERS + b" "}, "submissions.zip")
    assert {line.status for line in collected.needs_person} == {"no learner known"}
    assert not (course / "submitted").exists()


@pytest.mark.parametrize("roster", [[], PEOPLE])
@pytest.mark.parametrize("two", [("01_first_a", "01_first_b"), ("01_first_{}", "01_first_{}_plots"), ("{}", "plots")])
def test_two_notebooks_of_everybodys_make_no_sections_of_their_folders(
    two: tuple[str, str], roster: list[str], collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member(name) for name in roster])
    folders = enumerate(name for name in PEOPLE if name != "bob")
    both = {f"submission_{at}/{called.format(name)}.ipynb": EVES for at, name in folders for called in two}
    collecting({**both, "submission_9/01_first_bob.ipynb": HERS}, "all.zip")
    assert not (course / "submitted").exists()


SEVERAL = ["01_first_bob", "01_first_emil"]
OF_FEW = {
    "half of all": (["eve"], "", SEVERAL),
    "a lesson's folder in each": (PEOPLE, "01_first/", SEVERAL),
    "more folders than the others": (PEOPLE, "src/", [f"{at}/{name}" for at in range(9) for name in SEVERAL]),
}
"""Who else handed in, in which folder of theirs, and what mallory's own folder holds."""


@pytest.mark.parametrize("roster", [[], PEOPLE])
@pytest.mark.parametrize("case", OF_FEW)
def test_a_learners_folder_makes_no_sections_of_all(
    case: str, roster: list[str], collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member(name) for name in roster])
    people, inside, hers = OF_FEW[case]
    theirs = {f"homework-1-x{at}/{inside}work.ipynb": EVES for at in range(len(people))}
    mine = {f"homework-1-x99/{inside}{name}.ipynb": HERS + b" " * at for at, name in enumerate(hers)}
    collecting({**theirs, **mine}, "all.zip")
    assert not (course / "submitted").exists()


@pytest.mark.parametrize("roster", [[], [Member("bob"), Member("eve")]])
def test_an_exchange_is_left_to_nbgrader(roster: list[Member], collecting: Collecting, course: Path) -> None:
    """Everybody can hand in there under any name."""
    enrol(course, roster)
    files = {f"{name}+01_first+2026-11-09 10:00:00 UTC+x/01_first.ipynb": HERS for name in ("bob", "eve")}
    for upload in ("inbound.zip", "inbound"):
        lines = collecting(files, upload).needs_person
        assert [(line.learner, line.time, "nbgrader collect" in line.why) for line in lines] == [("", None, True)] * 2
    assert not (course / "submitted").exists()


@pytest.mark.parametrize("address", ["bob@gmail.com", "roebob@gmail.com", "bob.roe@gmail.com"])
def test_an_address_of_ones_own_choice_gives_nobodys_name(address: str, collecting: Collecting, course: Path) -> None:
    enrol(course, [Member("b7", "Bob Roe", "b7@u.edu"), Member("eve"), Member("mallory", "", address)])
    collecting({"bob/x.ipynb": BOBS, "eve/x.ipynb": EVES}, "class")
    collecting({"roebob_1_2_x.ipynb": BOBS, "eve_3_4_x.ipynb": EVES}, "submissions.zip")
    assert not (course / "submitted" / "mallory").exists()
    assert everything(course / "submitted")["b7/01_first/01_first.ipynb"] == BOBS


def test_what_deviates_from_the_layout_is_listed(collecting: Collecting, course: Path) -> None:
    collected = collecting({**LMS["Canvas"], "mallory/01_first.ipynb": HERS}, "spring.zip")
    (line,) = collected.needs_person
    assert (line.status, line.learner) == ("no learner known", "")
    assert "Canvas" in line.why
    assert {path.name for path in (course / "submitted").iterdir()} == {"bob", "eve"}


LONG = "x" * 250
SPLIT_TWICE = {
    "Moodle": "bob_1_assignsubmission_file__9_assignsubmission_file_y.ipynb",
    "Moodle, a folder": "bob_1_assignsubmission_file_x_9_assignsubmission_file_/x.ipynb",
    "Moodle, a long name": f"bob_1_assignsubmission_file_{LONG}_9_assignsubmission_file_y.ipynb",
    "Brightspace": "1-9 - bob - Nov 1, 2026 900 AM - Nov 24, 2026 1149 PM/x.ipynb",
    "Brightspace, a file": "1-9 - bob - Nov 1, 2026 900 AM - x - Nov 24, 2026 1149 PM - y.ipynb",
    "Classroom": "bob - x - y.ipynb",
    "Blackboard": "p_bob_attempt_2026-11-10-10-00-00_p_eve_attempt_2026-11-11-10-00-00_x.ipynb",
}


@pytest.mark.parametrize("case", SPLIT_TWICE)
def test_a_name_that_can_be_split_in_two_places_is_nobodys(case: str, collecting: Collecting, course: Path) -> None:
    """Where learners may choose how they are called, or what a file is called: neither gives a learner nor a date."""
    enrol(course, [Member("bob", "", "", ("participant 1", "1")), Member("eve"), Member("mallory")])
    collected = collecting({**LMS[case.partition(",")[0]], SPLIT_TWICE[case]: HERS}, "hooks26.zip")
    (line,) = collected.needs_person
    assert (line.status, line.learner, line.time, line.account) == ("no learner known", "", None, "")
    found = {path: data for path, data in everything(course / "submitted").items() if path.endswith(".ipynb")}
    assert found == {"bob/01_first/01_first.ipynb": BOBS, "eve/01_first/01_first.ipynb": EVES}


FIRST = {"bob - x.ipynb": BOBS, "eve - x.ipynb": EVES}
SECOND = {
    "a second file": {"bob - x (1).ipynb": HERS},
    "where nothing is filled in": {"bob - x (1).ipynb": HERS, "bob - x.ipynb": notebook("01_first")},
    "packed": {"bob - y.zip": zipped({"x.ipynb": HERS})},
}


@pytest.mark.parametrize("case", SECOND)
def test_of_two_files_that_only_a_name_gives_a_learner_none_counts(
    case: str, collecting: Collecting, course: Path
) -> None:
    collected = collecting({**FIRST, **SECOND[case]}, "hooks26.zip")
    assert [(line.status, line.learner) for line in collected.needs_person] == [("waits", "bob")] * 2
    assert all("only a name says whose" in line.why for line in collected.needs_person)
    assert set(everything(course / "submitted")) == {"eve/01_first/01_first.ipynb"}


def test_nor_does_it_replace_what_came_before_until_a_person_has_decided(
    collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    collecting(FIRST, "first.zip")
    second = tmp_path / "second.zip"
    second.write_bytes(zipped({"eve - x.ipynb": EVES, "bob - x.ipynb": HERS}, time=datetime(2026, 12, 1, tzinfo=UTC)))
    (line,) = collect(course, [second]).needs_person
    assert (line.status, line.learner) == ("waits", "bob")
    assert everything(course / "submitted")["bob/01_first/01_first.ipynb"] == BOBS
    collect(course, [course / line.place], learner="bob", lesson="01_first")
    assert everything(course / "submitted")["bob/01_first/01_first.ipynb"] == HERS


BORROWED = [
    "roebob_7_99999_55_101_w.ipynb",
    "roebob_7_99999_x_55_101_w.ipynb",
    "eve_7_99999_55_101_w.ipynb",
    "roebob_LATE_7_99999_LATE_55_101_w.ipynb",
    # Of Roebob_7, which it leaves as it is; 555 is the number of who is called so.
    "roebob_7_555_101_w.ipynb",
]
"""What Canvas makes of the names Roebob_7-_99999 and the like: it takes ``_7_`` out of a name, and afterwards the hyphen."""


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", BORROWED)
def test_a_name_that_holds_anothers_number_in_canvas_replaces_nothing(
    name: str, again: bool, collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member("bob", "Bob Roe"), Member("eve")])
    honest = {"roebob_7_100_w.ipynb": BOBS, "eve_55_99_w.ipynb": EVES}
    if again:
        assert not collecting(honest, "first.zip").needs_person
    lines = collecting({**honest, name: HERS}, "hooks26.zip").needs_person
    assert name in {line.name for line in lines}
    assert HERS not in everything(course / "submitted").values()
    assert not again or BOBS in everything(course / "submitted").values()


LATER = datetime(2026, 12, 1, tzinfo=UTC).timestamp()
LOOSE = [
    "01_first_bob (1).ipynb",
    "bob_01_first.ipynb",
    "bob.ipynb",
    "Bob Roe - 01_first.ipynb",
    "BOB.ipynb",
    "Bób.ipynb.txt",
    "01_first_bob - Copy.ipynb",
    "bob - x.ipynb",
    "bob@u.edu.ipynb",
    "bob.zip",
]


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", LOOSE)
def test_nor_do_loose_files_of_a_learner_whom_only_their_names_say(
    name: str, again: bool, course: Path, tmp_path: Path
) -> None:
    """In one upload or in two, and however late it came: whoever sent it by mail named it."""
    enrol(course, [Member("bob", "Bob Roe", "bob@u.edu"), Member("eve")])
    came = folder_of(tmp_path / "came", {"01_first_bob.ipynb": BOBS, "01_first_eve.ipynb": EVES})
    if again:
        assert not collect(course, [came]).needs_person
    folder_of(came, {name: zipped({"x.ipynb": HERS}) if name.endswith(".zip") else HERS})
    os.utime(came / name, (LATER, LATER))
    lines = collect(course, [came]).needs_person
    assert {(line.status, line.learner) for line in lines} == {("waits", "bob")}
    left = [data for path, data in everything(course / "submitted").items() if path.startswith("bob/")]
    assert left == ([BOBS] if again else [])


def test_a_folder_that_a_person_made_for_a_learner_is_that_persons_word(course: Path, tmp_path: Path) -> None:
    """Unless two are called after one learner in two ways."""
    enrol(course, [Member("bob", "Bob Roe", "bob@u.edu"), Member("eve")])
    came = folder_of(tmp_path / "came", CLASS)
    collect(course, [came])
    folder_of(came, {"bob/again.ipynb": HERS})
    os.utime(came / "bob/again.ipynb", (LATER, LATER))
    assert not collect(course, [came]).needs_person
    assert everything(course / "submitted")["bob/01_first/01_first.ipynb"] == HERS
    folder_of(came, {"Bob Róe/x.ipynb": EVES})
    os.utime(came / "Bob Róe/x.ipynb", (LATER + 60, LATER + 60))
    lines = collect(course, [came]).needs_person
    assert {line.status for line in lines} == {"no learner known"}
    assert everything(course / "submitted")["bob/01_first/01_first.ipynb"] == HERS


@pytest.mark.parametrize("name", ["bob.", "bob ", "bob .", "..bob"])
def test_two_folders_that_some_systems_take_for_one_are_asked_about(
    name: str, collecting: Collecting, course: Path
) -> None:
    collected = collecting({f"{name}/x.ipynb": HERS, **CLASS})
    assert {line.learner for line in collected.lines if line.sha256 and line.name.startswith(name)} <= {"", name}
    assert HERS not in [data for path, data in everything(course / "submitted").items() if path.startswith("bob/")]


def test_an_upload_that_is_called_like_a_learner_may_be_that_learners(collecting: Collecting, course: Path) -> None:
    """An archive that she packed, collected by itself: the names in it may be her choice."""
    collecting({**CLASS, "mallory/x.ipynb": HERS}, "first.zip")
    before = everything(course / "submitted")
    forged = {"bob_1_2_x.ipynb": HERS, "eve_3_4_x.ipynb": HERS, "kim_5_6_x.ipynb": HERS}
    collected = collecting(forged, "mallory.zip")
    assert {line.status for line in collected.needs_person} == {"no learner known"}
    collecting(forged, "mallory_9_99_work.zip")
    collecting({f"mallory/{name}": data for name, data in forged.items()}, "mallory (1).zip")
    assert everything(course / "submitted") == before


@pytest.mark.parametrize("wrapper", ["", "downloads/", "01_first/archive/", "submissions/01_first/"])
@pytest.mark.parametrize("system", LMS)
def test_a_download_in_folders_that_are_nobodys_is_read(
    system: str, wrapper: str, collecting: Collecting, course: Path
) -> None:
    collected = collecting({wrapper + name: data for name, data in LMS[system].items()}, "hooks26.zip")
    assert not collected.needs_person
    assert {path.name for path in (course / "submitted").iterdir()} == {"bob", "eve"}


def test_a_folder_around_a_download_that_may_be_a_learners_is_asked_about(
    collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    files = {f"CS101/{name}": data for name, data in LMS["Canvas"].items()}
    collected = collecting(files, "spring.zip")
    assert {line.status for line in collected.needs_person} == {"no learner known"}
    assert all("'CS101'" in line.why for line in collected.needs_person)
    assert not (course / "submitted").exists()
    names = tmp_path / "class.csv"
    names.write_text("learner\nbob\neve\n")
    enrol(course, [Member("bob"), Member("eve")])
    (line,) = collecting({"CS101/bob/x.ipynb": BOBS}, "one.zip").needs_person
    assert "'CS101' or 'bob'" in line.why
    assert not (course / "submitted").exists()
    collecting(files, "spring.zip", names=names)
    assert {path.name for path in (course / "submitted").iterdir()} == {"bob", "eve"}


BOBS_NAME = "hw_bob_attempt_2026-11-01-10-10-10"
MAY_BE_OF_TWO = {
    "Canvas, Blackboard": {f"mallorymarch_12_950_{BOBS_NAME}_x.ipynb": HERS},
    "two such": {f"mallorymarch_12_950_{BOBS_NAME}_x.ipynb": HERS,
                 "carlson_13_951_hw_eve_attempt_2026-11-01-10-10-10_x.ipynb": EVES},
    "late": {"mallorymarch_LATE_12_950_hw_mallory_attempt_2026-11-01-10-10-10_x.ipynb": HERS},
    # Relatives of these.
    "a folder around it": {f"01_first/archive/mallorymarch_12_950_{BOBS_NAME}_x.ipynb": HERS},
    "packed": {f"mallorymarch_12_950_{BOBS_NAME}_w.zip": zipped({"01_first.ipynb": HERS})},
    "a name that nobody bears": {f"final_12_950_{BOBS_NAME}_x.ipynb": HERS},
    "a name of symbols, which Canvas leaves out": {f"_12_950_{BOBS_NAME}_x.ipynb": HERS},
    "Moodle, Blackboard": {f"Mallory March_12_assignsubmission_file_{BOBS_NAME}_x.ipynb": HERS},
    "Moodle's folder": {f"Mallory March_12_assignsubmission_file_{BOBS_NAME}/x.ipynb": HERS},
    "Blackboard, Moodle": {"hw_mallory_attempt_2026-11-20-10-10-10_x_11_assignsubmission_file_y.ipynb": HERS},
    "Brightspace, Moodle": {"12-5 - Mallory - Nov 9, 2026 1000 AM - x_11_assignsubmission_file_y.ipynb": HERS},
    "Brightspace, Blackboard": {f"12-5 - Mallory - Nov 9, 2026 1000 AM - {BOBS_NAME}_x.ipynb": HERS},
    "Classroom, Blackboard": {f"Mallory March - {BOBS_NAME}_x.ipynb": HERS},
    "Classroom, Moodle": {"Mallory March - x_11_assignsubmission_file_y.ipynb": HERS},
    "Canvas, the exchange": {"mallorymarch_12_950_bob+01_first+2026-11-01 10:00:00 UTC.zip": zipped({"x.ipynb": HERS})},
    "three": {f"mallorymarch_12_950_{BOBS_NAME}_11_assignsubmission_file_x.ipynb": HERS},
}  # fmt: skip
"""All of an upload that two systems may have named, who say different things by it."""
NUMBERED = [Member("bob", "Bob Bee", "", ("11",)), Member("eve"), Member("mallory", "Mallory March", "", ("12",))]


@pytest.mark.parametrize("case", MAY_BE_OF_TWO)
def test_what_two_systems_may_have_named_is_nobodys(case: str, collecting: Collecting, course: Path) -> None:
    enrol(course, NUMBERED)
    lines = [line for line in collecting(MAY_BE_OF_TWO[case], "hooks26.zip").lines if line.name.endswith(".ipynb")]
    assert {(line.status, line.learner, line.time, line.account) for line in lines} == {
        ("no learner known", "", None, "")
    }
    assert not (course / "submitted").exists()


@pytest.mark.parametrize(
    "start", ["mallorymarch_12_950_", "Mallory March_12_assignsubmission_file_", "Mallory March - "]
)
def test_nor_is_an_archive_by_itself(start: str, collecting: Collecting, course: Path) -> None:
    enrol(course, NUMBERED)
    for packed in ({"work.ipynb": HERS}, {"bob_11_4_x.ipynb": HERS}):
        assert len(collecting(packed, f"{start}{BOBS_NAME}_w.zip").needs_person) == 1
    assert not (course / "submitted").exists()


def test_where_others_show_which_system_it_is_her_late_work_stays_late_and_hers(
    collecting: Collecting, course: Path
) -> None:
    collected = collecting(
        {"bob_11_4_x.ipynb": BOBS, f"mallorymarch_LATE_12_950_{BOBS_NAME}_x.ipynb": HERS}, "hooks26.zip"
    )
    found = {line.learner: (line.late, line.time) for line in collected.lines if line.learner}
    assert found == {"bob": (False, None), "mallorymarch": (True, None)}
    assert not collected.needs_person


def test_digits_that_no_system_writes_are_the_learners_own(collecting: Collecting, course: Path) -> None:
    collected = collecting({"mallory_12_950_hw_bob_attempt_２０２６-11-01-10-10-10_x.ipynb": HERS}, "hooks26.zip")
    assert [(line.learner, line.time) for line in collected.lines if line.learner] == [("mallory", None)]


ARRANGED = {
    "flat": "01_first_{}.ipynb",
    "only a name": "{}.ipynb",
    "Classroom": "{} - x.ipynb",
    "a lesson's": "01_first/{}.ipynb",
    "folders": "{}/x.ipynb",
}
AS_AN_LMS = {
    "Blackboard": "x_{0}_attempt_2026-11-20-10-10-10_w{1}.ipynb", "Canvas": "{0}_1{1}_{1}_w.ipynb",
    "Moodle": "{0}_{1}_assignsubmission_file_w.ipynb", "Brightspace": "{1}-2 - {0} - Nov 9, 2026 1000 AM - w.ipynb",
    "a folder of Moodle's": "{0}_{1}_assignsubmission_file_/w.ipynb",
    "a folder of an exchange": "{0}+01_first+2026-11-20 12:00:00 UTC+{1}/w.ipynb",
}  # fmt: skip


@pytest.mark.parametrize("roster", [[Member(name) for name in [*PEOPLE, "mallory"]], []])
@pytest.mark.parametrize("form", AS_AN_LMS)
@pytest.mark.parametrize("layout", ARRANGED)
def test_one_persons_files_never_change_how_others_are_read(
    layout: str, form: str, roster: list[Member], collecting: Collecting, course: Path
) -> None:
    """However many files are called as an LMS would call those of however many learners."""
    enrol(course, roster)
    called = [*PEOPLE, *(f"invented{number}" for number in range(20)), "ada"]
    honest = {ARRANGED[layout].format(name): notebook("01_first", name) for name in PEOPLE}
    wrapper = "01_first/" if layout == "a lesson's" else ""
    hers = {wrapper + AS_AN_LMS[form].format(name, at): HERS + b" " * at for at, name in enumerate(called, 1)}
    collected = collecting({**honest, **hers}, "hooks26.zip")
    found = {path: data for path, data in everything(course / "submitted").items() if path.endswith(".ipynb")}
    assert found == {f"{name}/01_first/01_first.ipynb": notebook("01_first", name) for name in PEOPLE}
    assert not [path for path in everything(course / "submitted") if path.endswith("timestamp.txt")]
    assert {(line.name, line.status) for line in collected.needs_person} == {
        (name, "no learner known") for name in hers
    }


def test_nor_do_names_as_of_classroom(collecting: Collecting, course: Path) -> None:
    honest = {f"01_first_{name}.ipynb": notebook("01_first", name) for name in PEOPLE}
    collecting({**honest, **{f"Zed{at} - x.ipynb": HERS + b" " * at for at in range(9)}}, "hooks26.zip")
    found = everything(course / "submitted")
    assert {name: found[f"{name}/01_first/01_first.ipynb"] for name in PEOPLE} == {
        name: notebook("01_first", name) for name in PEOPLE
    }


ODD_NAMES = {
    "Canvas": ["mallory_m_12_950_{}_x.ipynb", "mallory_1_m_12_950_{}_x.ipynb", "bob_1_text_12_950_{}_x.ipynb",
               "_12_950_{}_x.ipynb", "final_12_950_{}_x.ipynb", "m" * 150 + "_12_950_{}_x.ipynb"],
    "Moodle": ["m" * 201 + "_12_assignsubmission_file_{}.ipynb"],
    "Brightspace": ["7-8 - -m - Nov 9, 2026 1000 AM - {}_x.ipynb", "7-8 -  - Nov 9, 2026 1000 AM - {}_x.ipynb"],
}  # fmt: skip


@pytest.mark.parametrize("system", ODD_NAMES)
def test_whatever_somebody_is_called_the_others_are_read(system: str, collecting: Collecting, course: Path) -> None:
    for odd in ODD_NAMES[system]:
        for at in range(3):
            hers = {odd.format(f"{at}{BOBS_NAME}"[: 255 - len(odd)]): HERS}
            collecting({**LMS[system], **hers}, "hooks26.zip")
        found = {path: data for path, data in everything(course / "submitted").items() if path.endswith(".ipynb")}
        assert {found.get(f"{name}/01_first/01_first.ipynb") for name in ("bob", "eve")} == {BOBS, EVES}, odd


def test_a_teachers_own_file_beside_a_download_changes_nothing(collecting: Collecting, course: Path) -> None:
    for system, files in LMS.items():
        beside = {"hooks - rubric.pdf": b"%PDF-1.7", "grades.csv": b"x", "01_first - notes.txt": b"x"}
        collecting({**files, **beside}, f"{system}.zip")
        assert {path.name for path in (course / "submitted").iterdir()} == {"bob", "eve"}, system
        shutil.rmtree(course / "submitted")
        shutil.rmtree(course / "collected")


def test_what_somebody_wrote_into_blackboards_text_changes_nothing(collecting: Collecting, course: Path) -> None:
    texts = {f"p_{name}_attempt_2026-11-09-10-00-00.txt": HERS for name in ("bob", "eve", "mallory")}
    assert not collecting({**LMS["Blackboard"], **texts}, "hooks26.zip").needs_person
    assert {path.name for path in (course / "submitted").iterdir()} == {"bob", "eve"}


ATTEMPT = "{}_{}_attempt_2026-11-{:02}-10-00-00_x.ipynb"
BLACKBOARDS = {
    "a user name that ends like another": ("hw", ["bob", "x_bob", "eve"]),
    "two that end alike": ("hw", ["a_smith", "b_smith", "eve"]),
    "a title with underscores": ("02_hooks_of_tensors", ["bob", "eve"]),
    "a long title": ("Homework 3: " + "tensors and their hooks " * 6 + "of week 11", ["bob", "eve"]),
    "both": ("02_hooks_of_tensors", ["bob", "x_bob", "a_b_bob", "eve"]),
    # Relatives of these.
    "one begins with the whole other": ("hw", ["bob", "bob_x", "bob_x_y"]),
    "the title is a name": ("bob_1", ["bob", "eve"]),
    "signs at the ends": ("hw", ["bob_", "eve", "jane"]),
}
"""A title, and the user names of a whole download."""


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("case", BLACKBOARDS)
def test_blackboards_title_ends_where_the_user_names_begin(
    case: str, known: bool, collecting: Collecting, course: Path
) -> None:
    title, names = BLACKBOARDS[case]
    enrol(course, [Member(name) for name in names if known])
    files = {ATTEMPT.format(title, name, at): notebook("01_first", name) for at, name in enumerate(names, 1)}
    assert not collecting(files, "hooks26.zip").needs_person
    found = {path: data for path, data in everything(course / "submitted").items() if path.endswith(".ipynb")}
    assert found == {f"{name}/01_first/01_first.ipynb": notebook("01_first", name) for name in names}


def test_nor_does_it_end_within_the_names_of_those_who_are_known(collecting: Collecting, course: Path) -> None:
    enrol(course, [Member("s_bob"), Member("s_eve")])
    files = {
        ATTEMPT.format("hw", f"s_{name}", at): CLASS[f"{name}/01_first.ipynb"] for at, name in ((1, "bob"), (2, "eve"))
    }
    assert not collecting(files, "hooks26.zip").needs_person
    assert {path.name for path in (course / "submitted").iterdir()} == {"s_bob", "s_eve"}


UNCLEAR_ATTEMPTS = {
    "one file": ["hw_x_bob"],
    "one learner": ["hw_x_bob", "hw_x_bob"],
    "two titles": ["hw_x_bob", "other_eve", "more_y_eve"],
    "two ends that are known": ["hw_x_bob", "hw_x_eve", "hw_x_x_bob"],
    "an empty part": ["hw__bob"],
}


@pytest.mark.parametrize("names", [[], ["bob", "eve", "x_bob"]])
@pytest.mark.parametrize("case", UNCLEAR_ATTEMPTS)
def test_where_that_cannot_be_told_a_person_is_asked(
    case: str, names: list[str], collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member(name) for name in names])
    collecting({**CLASS, "x_bob/x.ipynb": EVES + b" "}, "first.zip")
    before = everything(course / "submitted")
    called = [
        f"{start}_attempt_2026-11-{at:02}-10-00-00_x.ipynb" for at, start in enumerate(UNCLEAR_ATTEMPTS[case], 10)
    ]
    unclear = [name for name in called if not name.startswith("other")]
    collected = collecting(
        {name: HERS + b" " * at if name in unclear else EVES for at, name in enumerate(called)}, "b.zip"
    )
    assert [(line.name, line.status) for line in collected.needs_person] == [
        (one, "no learner known") for one in unclear
    ]
    assert HERS.strip() not in [data.strip() for data in everything(course / "submitted").values()]
    assert before.items() <= everything(course / "submitted").items()


SPELLINGS = [
    "Bob Róe",
    "Bob-Roe",
    "bob",
    "BOB",
    "bob@u.edu",
    "Roe, Bob",
    "Bob Roe",
    "bob roe",
    "Bob  Roe.",
    "Bo\u0308b Roe",
]
"""What another one calls herself, and the roster takes for bob."""
TWO_FORMS = {
    "Moodle": "{1}_{2}_assignsubmission_file_/x.ipynb",
    "Moodle, files": "{1}_{2}_assignsubmission_file_x.ipynb",
    "Canvas": "{0}_{2}_9{2}_x.ipynb",
    "Brightspace": "{2}-9{2} - {1} - Nov {2}, 2026 1149 PM/x.ipynb",
    "Blackboard": "hw_{1}_attempt_2026-11-{2:02}-10-00-00_x.ipynb",
    "Classroom": "{1} - x{2}.ipynb",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("system", TWO_FORMS)
def test_two_of_one_download_who_lead_to_one_learner_are_listed(
    system: str, spelling: str, collecting: Collecting, course: Path
) -> None:
    """Their numbers differ, or without numbers the names, as they are written: one of the two may be somebody else."""
    enrol(course, [Member("bob", "Bob Roe", "bob@u.edu", ("Böb Roe",)), Member("eve", "Eve Low"), Member("mallory")])
    collecting({"bob/x.ipynb": BOBS, "eve/x.ipynb": EVES}, "first.zip")
    before = everything(course / "submitted")
    form, numbered = TWO_FORMS[system], system[:3] not in ("Bla", "Cla")
    his, hers = (
        form.format("".join(name.split()).replace("-", ""), name, at)
        for name, at in (("Bob Roe" if spelling != "Bob Roe" or numbered else "bob", 7), (spelling, 11))
    )
    files = {his: notebook("01_first", "his"), hers: HERS, form.format("EveLow", "Eve Low", 8): EVES}
    lines = collecting(files, "hooks26.zip").needs_person
    assert {(line.name, line.status) for line in lines} == {(his, "no learner known"), (hers, "no learner known")}
    assert (
        everything(course / "submitted").items()
        >= {path: data for path, data in before.items() if path.endswith(".ipynb")}.items()
    )


@pytest.mark.parametrize("name", ["b_ob", "b.ob", "Bob", "bob@u.edu"])
def test_a_user_name_is_one_persons_in_every_download(name: str, collecting: Collecting, course: Path) -> None:
    """Another one, which the roster takes for the same learner, replaces nothing, though bob's is not beside it."""
    enrol(course, [Member("bob", "Bob Roe", "bob@u.edu"), Member("eve")])
    form = "hw_{}_attempt_2026-11-{:02}-10-00-00_x.ipynb"
    collecting({form.format("bob", 7): BOBS, form.format("eve", 7): EVES}, "first.zip")
    (line,) = collecting({form.format(name, 8): HERS, form.format("eve", 7): EVES}, "second.zip").needs_person
    assert (line.status, line.learner) == ("no learner known", "")
    assert everything(course / "submitted")["bob/01_first/01_first.ipynb"] == BOBS


def test_a_vowel_is_no_accent(collecting: Collecting, course: Path) -> None:
    names = ("कि", "का", "が", "か", "กิ", "กา")
    files = {_called("Moodle", name, at): notebook("01_first", name) for at, name in enumerate(names)}
    assert not collecting(files, "hooks26.zip").needs_person
    assert {one.name for one in (course / "submitted").iterdir()} == set(names)


THREE_FORMS = {
    "Canvas": "{0}_{2}_{3}_x.ipynb",
    "Moodle": "{1}_{2}_assignsubmission_file_/x.ipynb",
    "Brightspace": "{2}-{3} - {1} - Nov {2}, 2026 1149 PM/x.ipynb",
}
"""Name without spaces, name, number, number of the hand-in."""


def _called(system: str, name: str, number: int, handed_in: int = 90) -> str:
    return THREE_FORMS[system].format("".join(reversed(name.split())).lower(), name, number, handed_in)


LONE = [
    "bob_1_999_x.ipynb",
    "bob_1_assignsubmission_file_x.ipynb",
    "p_bob_attempt_2026-11-20-10-00-00_x.ipynb",
    "1-999 - bob - Nov 20, 2026 1000 AM - x.ipynb",
]
BY_ITSELF = [
    *(("mails", {name: HERS}) for name in [*LONE, "01_first_bob.ipynb"]),
    *((name.replace(".ipynb", ".zip"), {"x.ipynb": HERS}) for name in [*LONE, "bob.ipynb"]),
    *(("work.zip", {name: HERS}) for name in ("bob/x.ipynb", "01_first_bob.ipynb", "submission_9/bob.ipynb")),
    *(("submissions", {f"submission_9/{name}": HERS, "submission_9/BOB.ipynb": HERS}) for name in [*LONE, "bob.ipynb"]),
]
"""What one learner packed or sent by mail, and a person collects by itself."""


@pytest.mark.parametrize(("upload", "files"), BY_ITSELF)
@pytest.mark.parametrize("before", [False, True])
def test_all_that_one_learner_packed_or_sent_says_nothing_of_whose_it_is(
    upload: str, files: dict[str, bytes], before: bool, collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    enrol(course, [Member("bob"), Member("eve"), Member("mallory")])
    if before:
        collecting(CLASS, "class")
    path = tmp_path / upload
    if path.suffix:
        path.write_bytes(zipped(files, time=datetime(2027, 1, 1, tzinfo=UTC)))
    lines = collect(course, [path if path.suffix else folder_of(path, files)]).needs_person
    assert {(line.status, line.learner, line.time) for line in lines} == {("no learner known", "", None)}
    collecting(CLASS, "class")
    assert HERS not in everything(course / "submitted").values()


@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize("system", THREE_FORMS)
def test_another_number_under_a_name_is_listed_in_one_call_as_in_two(
    system: str, calls: int, course: Path, tmp_path: Path
) -> None:
    enrol(course, [Member("bob", "Bob Roe"), Member("jane", "Jane Doe"), Member("eve", "Eve Low")])
    his = {_called(system, "Bob Roe", 7): BOBS, _called(system, "Jane Doe", 8): EVES}
    hers = {_called(system, "Bob Roe", 11, 99): HERS, _called(system, "Al Po", 9): EVES + b" "}
    paths = [tmp_path / "g1.zip", tmp_path / "g2.zip"]
    for path, files in zip(paths, (his, hers), strict=True):
        path.write_bytes(zipped(files))
    done = [collect(course, paths)] if calls == 1 else [collect(course, [path]) for path in paths]
    (line,) = [line for one in done for line in one.needs_person]
    assert (line.status, line.name) == ("no learner known", _called(system, "Bob Roe", 11, 99))
    assert everything(course / "submitted")["bob/01_first/01_first.ipynb"] == BOBS


@pytest.mark.parametrize("system", THREE_FORMS)
def test_nor_does_a_number_that_was_somebodys_hand_in_as_another(
    system: str, collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member("bob", "Bob Roe"), Member("jane", "Jane Doe"), Member("eve", "Eve Low")])
    honest = {_called(system, "Jane Doe", 8): BOBS}
    collecting({**honest, _called(system, "Eve Low", 11): EVES}, "first.zip")
    (line,) = collecting({**honest, _called(system, "Bob Roe", 11, 99): HERS}, "second.zip").needs_person
    assert line.why == f"{system}'s 11 was eve before, and is called 'bob' here"
    assert not (course / "submitted" / "bob").exists()


@pytest.mark.parametrize("roster", [[], [Member("bob", "Bob Roe"), Member("eve", "Eve Low")]])
@pytest.mark.parametrize("system", ["Canvas", "Brightspace"])
def test_nor_does_it_hide_the_one_whose_name_it_takes(
    system: str, roster: list[Member], collecting: Collecting, course: Path
) -> None:
    enrol(course, roster)
    collecting({_called(system, "Bob Roe", 7): BOBS, _called(system, "Eve Low", 11): EVES}, "first.zip")
    second = {_called(system, "Bob Roe", 7, 98): BOBS + b" ", _called(system, "Bob Roe", 11, 99): HERS}
    (line,) = collecting(second, "second.zip").needs_person
    assert line.name == _called(system, "Bob Roe", 11, 99)
    assert BOBS + b" " in everything(course / "submitted").values()


@pytest.mark.parametrize("system", THREE_FORMS)
def test_a_number_whose_learner_the_roster_calls_otherwise_now_is_the_same_persons(
    system: str, collecting: Collecting, course: Path
) -> None:
    files = {_called(system, "Bob Roe", 7): BOBS, _called(system, "Jane Doe", 8): EVES}
    collecting(files, "first.zip")
    enrol(course, [Member("b1", "Bob Roe"), Member("j1", "Jane Doe")])
    assert not collecting(files, "second.zip").needs_person


@pytest.mark.parametrize("name", ["Bob Roe", "Bob Róe"])
def test_moodles_number_is_one_persons_in_all_groups_of_a_lesson(
    name: str, collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member("bob", "Bob Roe"), Member("jane", "Jane Doe")])
    files = {"group 1/" + _called("Moodle", "Bob Roe", 7): BOBS, "group 1/" + _called("Moodle", "Jane Doe", 8): EVES}
    hers = {"group 2/" + _called("Moodle", name, 11): HERS}
    assert len(collecting({**files, **hers}, "hooks26.zip").needs_person) == 2
    assert {path.name for path in (course / "submitted").iterdir()} == {"jane"}


def test_nor_are_two_of_one_download_one_person_where_their_works_are_of_two_lessons(
    collecting: Collecting, course: Path
) -> None:
    files = {_called("Moodle", "Bob Roe", 7): BOBS, _called("Moodle", "Bob Roe", 11): notebook("02_other", "mallory")}
    assert len(collecting(files, "hooks26.zip").needs_person) == 2
    assert not (course / "submitted").exists()


def test_moodles_group_before_a_name_is_no_part_of_it(collecting: Collecting, course: Path) -> None:
    """A hyphen may be the name's own, and whoever has a number has no other's for all that stands before the name."""
    people = {"bob": "Bob Roe", "jane": "Jane-Ann Doe", "eve": "Eve Low"}
    enrol(course, [Member(*one) for one in people.items()])
    names = ("Group A-Bob Roe", "Group B-2-Jane-Ann Doe", "Eve Low", "Team 1-Eve Low", "Jean-Bob Roe")
    files = {_called("Moodle", name, at): notebook("01_first", name) for at, name in enumerate(names, 7)}
    lines = collecting(files, "hooks26.zip").needs_person
    assert {line.name for line in lines} == {_called("Moodle", "Eve Low", 9), _called("Moodle", "Team 1-Eve Low", 10)}
    assert sorted(one.name for one in (course / "submitted").iterdir()) == ["Jean-Bob Roe", "bob", "jane"]


def test_moodles_number_is_another_in_each_lesson(collecting: Collecting, course: Path) -> None:
    files = {f"01_first/{_called('Moodle', 'Bob Roe', 7)}": BOBS, f"01_first/{_called('Moodle', 'Eve Low', 8)}": EVES}
    other = notebook("02_other", "o")
    files |= {f"02_other/{_called('Moodle', 'Bob Roe', 8)}": other}
    assert not collecting(files, "hooks26.zip").needs_person
    assert not collecting({_called("Moodle", "Eve Low", 7): other + b" "}, "more.zip", lesson="02_other").needs_person


AROUND = {
    "Blackboard": "gradebook_41672_202045_HW2_2026-11-10-10-11-12",
    "Brightspace": "Hooks Lab Download Nov 10, 2026 1149 PM",
    "Moodle": "CS101-Hooks and layers-41723",
}
"""What systems call their downloads."""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("system", AROUND)
def test_a_download_in_a_folder_of_its_own_name_is_read(
    system: str, packed: bool, collecting: Collecting, course: Path
) -> None:
    name = AROUND[system]
    files = {f"{name}/{entry}" if packed else entry: data for entry, data in LMS[system].items()}
    assert not collecting(files, f"{name} (1).zip" if packed else name).needs_person
    assert {one.name for one in (course / "submitted").iterdir()} == {"bob", "eve"}


@pytest.mark.parametrize("called", ["Submission", "Eve Notebook", "New Student"])
@pytest.mark.parametrize("system", ["Moodle", "Brightspace"])
def test_whoever_has_a_number_is_somebody_whatever_they_call_themselves(
    system: str, called: str, collecting: Collecting, course: Path
) -> None:
    """Hers is all that came, and what lies in her folder says nothing of whose it is, or when it came."""
    enrol(course, [Member("bob", "Bob Roe"), Member("eve", "Eve Low")])
    hers = _called(system, called, 11).removesuffix("x.ipynb") + _called(system, "Bob Roe", 7)
    collecting({hers: HERS}, "hooks26.zip")
    assert [path.parts[-3] for path in course.glob("submitted/*/*/*.ipynb")] == [called]


def test_a_number_that_is_not_the_rosters_own_is_listed(collecting: Collecting, course: Path) -> None:
    """It holds Canvas's, whose export says them."""
    system = "Canvas"
    enrol(course, [Member("bob", "Bob Roe", also=("7",)), Member("jane", "Jane Doe", also=("8",)), Member("eve")])
    honest = {_called(system, "Jane Doe", 8): EVES, _called(system, "eve", 5): EVES + b" "}
    (line,) = collecting({**honest, _called(system, "Bob Roe", 29): HERS}, "hooks26.zip").needs_person
    assert line.why == f"the roster has another number of 'bob' than {system}'s 29"
    assert not (course / "submitted" / "bob").exists()
    assert not collecting({**honest, _called(system, "Bob Roe", 7): BOBS}, "more.zip").needs_person


def test_nor_does_it_take_the_name_of_whose_number_the_roster_has_before_he_hands_in(
    collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member("bob", "Bob Roe", also=("7",)), Member("eve", "Eve Low", also=("8",))])
    (line,) = collecting({_called("Canvas", "Bob Roe", 29): HERS}, "hooks26.zip").needs_person
    assert (line.status, line.learner) == ("no learner known", "")


@pytest.mark.parametrize("system", ["Brightspace", "Moodle"])
def test_numbers_of_another_system_say_nothing(system: str, collecting: Collecting, course: Path) -> None:
    """Zoe, who is not on the roster, has the number there that bob has in Canvas."""
    enrol(course, [Member("bob", "Bob Roe", also=("7",)), Member("jane", "Jane Doe", also=("8",))])
    files = {
        _called(system, "Jane Doe", 18): EVES,
        _called(system, "Bob Roe", 17): BOBS,
        _called(system, "Zoe", 7): HERS,
    }
    assert not collecting(files, "hooks26.zip").needs_person
    found = {path.parts[-3]: path.read_bytes() for path in course.glob("submitted/*/*/*.ipynb")}
    assert found == {"jane": EVES, "bob": BOBS, "Zoe": HERS}


@pytest.mark.parametrize("known", ["roster", "before", "beside"])
@pytest.mark.parametrize("start", ["roebob_7_100__55", "roebob_7_100_x_LATE_55", "roebob_7_55", "_7_55"])
def test_a_number_in_canvas_that_another_one_has_hands_in_for_nobody(
    start: str, known: str, collecting: Collecting, course: Path
) -> None:
    """Bob has handed in nothing: what Canvas calls her holds his number, and hers after it."""
    enrol(course, [Member("bob", "Bob Roe", also=("7",)), Member("eve", also=("55",) if known == "roster" else ())])
    own = {"eve_55_101_x.ipynb": EVES, "jane_8_102_2026_11_20_x.ipynb": BOBS}
    if known == "before":
        assert not collecting(own, "first.zip").needs_person
    (line,) = collecting(
        {f"{start}_190_x.ipynb": HERS, **(own if known == "beside" else {})}, "hooks26.zip"
    ).needs_person
    assert line.status == "no learner known" and line.why.startswith("Canvas's number may be 7 or 55")
    assert not (course / "submitted" / "bob").exists()


def test_nor_does_her_own_number_hide_that_she_was_late(collecting: Collecting, course: Path) -> None:
    name = "eve_55_300__LATE_55_190_x.ipynb"
    (line,) = collecting({name: HERS, "jane_8_102_x.ipynb": BOBS}, "hooks26.zip").needs_person
    assert (line.name, line.status) == (name, "no learner known")


def test_what_canvas_calls_a_text_within_a_name_leaves_the_others_theirs(collecting: Collecting, course: Path) -> None:
    lines = collecting({"bob_7_text.html_55_190_x.ipynb": HERS, "jane_8_102_x.ipynb": BOBS}, "hooks26.zip").lines
    assert [line.learner for line in lines if line.name.startswith("jane")] == ["jane"]
    assert not (course / "submitted" / "bob").exists()


@pytest.mark.parametrize("system", THREE_FORMS)
def test_downloads_beside_each_other_in_one_folder_are_no_learners(
    system: str, collecting: Collecting, course: Path
) -> None:
    """Each may be a section's: whoever packed them is told to collect them one by one."""
    people = [("Bob Roe", 7), ("Jane Doe", 8), ("Al Po", 9), ("Eve Low", 11)]
    files = [(_called(system, *one), notebook("01_first", one[0])) for one in people]
    lines = collecting({"A.zip": zipped(dict(files[:2])), "B.zip": zipped(dict(files[2:]))}, "both").needs_person
    assert {line.why for line in lines} == {
        f"it seems to hold what {system} hands over: collect {name!r} by itself" for name in ("A", "B")
    }
    assert not (course / "submitted").exists()


NOBODYS_NAMES = {
    "Gradescope": ("submission_88{}/", "hw", []),
    "Gradescope, where a file may be called like a learner": ("submission_88{}/", "x", []),
    "Gradescope, with a roster": ("assignment_44_export/submission_88{}/", "x", ["bob", "eve", "mallory"]),
    "repositories": ("clones/assignment-1-x{}/", "code/hw", []),
    "accounts": ("student0{}/", "hw", []),
    "accounts of the class": ("home/student0{}/", "x", ["student00", "student01", "student02"]),
    "numbers of the class": ("10{}/", "x", ["100", "101", "102"]),
    "repositories of the class": ("submitted/assignment-1-x{}/", "hw", [f"assignment-1-x{at}" for at in range(3)]),
}
"""Folders of learners, made of words that nobody is called: how they are named, what is in them, and who is on the roster."""


@pytest.mark.parametrize("attack", [name for name in FORGED if "mallory/" in "".join(FORGED[name])])
@pytest.mark.parametrize("case", NOBODYS_NAMES)
def test_a_learners_folder_of_whatever_name_holds_no_names_of_learners(
    case: str, attack: str, collecting: Collecting, course: Path
) -> None:
    form, called, roster = NOBODYS_NAMES[case]
    enrol(course, [Member(name) for name in roster])
    files = {f"{form.format(at)}{called}.ipynb": data for at, data in enumerate((BOBS, EVES))}
    hers = {form.format(2) + name.removeprefix("mallory/"): data for name, data in FORGED[attack].items()}
    collecting(files | hers, "all")
    found = {path: data for path, data in everything(course / "submitted").items() if path.endswith(".ipynb")}
    if "of the class" in case:
        for name, data in zip(roster, (BOBS, EVES), strict=False):
            assert found.pop(f"{name}/01_first/01_first.ipynb") == data
    assert not [path for path in found if not path.startswith(tuple(roster[2:]) or "-")]
