"""The CSV of names: three kinds, every encoding, and what is wrong said with place and next command."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.collect.names import bare, plain, why_no_learner
from nbproof.collect.roster import Roster, read_names
from nbproof.errors import UsageError
from tests.collecting.conftest import Collecting
from tests.collecting.uploads import notebook

HANDMADE = "learner,name,number\njd1,Jane Doe,123\nbr2,Bob Röe,124\n"
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Hooks (991)\n"
    "    Points Possible,,,,,10\n"
    '"Doe, Jane",123,S-1,jd1,A,\n"Röe, Bob",124,S-2,br2,A,\n"Student, Test",999,,,A,\n'
)
PARTICIPANTS = "First name,Surname,ID number,Email address\nJane,Doe,jd1,jane@u.edu\nBob,Röe,br2,bob@u.edu\n"
WORKSHEET = (
    "Identifier,Full name,ID number,Email address,Status\n"
    "Participant 123,Jane Doe,jd1,jane@u.edu,Submitted\nParticipant 124,Bob Röe,br2,bob@u.edu,Submitted\n"
)
GERMAN = "Vorname;Nachname;ID-Nummer;E-Mail-Adresse\nJane;Doe;jd1;jane@u.edu\nBob;Röe;br2;bob@u.edu\n"
NBGRADER = "id,first_name,last_name,email,lms_user_id\njd1,Jane,Doe,jane@u.edu,123\nbr2,Bob,Röe,bob@u.edu,124\n"


def _read(tmp_path: Path, data: str | bytes) -> Roster:
    path = tmp_path / "names.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_names(path)


@pytest.mark.parametrize("table", [HANDMADE, CANVAS, PARTICIPANTS, WORKSHEET, GERMAN, NBGRADER])
@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_every_kind_in_every_encoding(table: str, code: str, tmp_path: Path) -> None:
    roster = _read(tmp_path, table.encode(code))
    assert roster.learners == ("jd1", "br2")
    for name in ("Jane Doe", "jane  doe", "JD1"):
        assert roster.who(name) == {"jd1"}, name
    for name in ("Bob Röe", "bob ro\u0308e", "Bob Roe", "bobroe"):
        assert roster.who(name) == {"br2"}, name
    if table != HANDMADE:
        assert roster.who("doejane") == roster.who("Doe, Jane") == {"jd1"} or table == WORKSHEET


@pytest.mark.parametrize("table", [HANDMADE, CANVAS, WORKSHEET, NBGRADER])
def test_the_numbers_of_the_lms_are_known(table: str, tmp_path: Path) -> None:
    roster = _read(tmp_path, table)
    assert roster.who("somebody", "124") == {"br2"}
    assert roster.who("somebody", "125") == set()
    assert roster.who("Jane Doe", "124") == {"jd1", "br2"}, "name and number contradict each other"


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_and_line_ends(delimiter: str, tmp_path: Path) -> None:
    for text in (HANDMADE, "sep=,\n" + HANDMADE, HANDMADE.replace("\n", "\r\n"), "\n\n" + HANDMADE + "\n,,\n"):
        assert _read(tmp_path, text.replace(",", delimiter)).learners == ("jd1", "br2")


def test_one_alias_of_two_learners_is_said_and_never_guessed(tmp_path: Path) -> None:
    roster = _read(tmp_path, "learner,name\nann1,Ann Li\nann2,Ann Li\nann,Someone\nx,ann\n")
    assert roster.who("Ann Li") == {"ann1", "ann2"}
    assert roster.who("ann") == {"ann"}, "an id is nobody else's alias"
    assert any("ann1 and ann2" in note for note in roster.notes)


def test_a_learner_that_is_no_folders_name_is_said_with_its_line(tmp_path: Path) -> None:
    roster = _read(tmp_path, "learner,name\n../up,A\na+b,B\n.hidden,C\n ok ,D\na*,E\n")
    assert roster.learners == ("ok",)
    assert len([note for note in roster.notes if "line" in note]) == 4


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"", "empty"), (b"\n\n", "empty"), (b"PK\x03\x04rest", "spreadsheet"), (b"\x89PNG\r\n\0\0\x01\x02" * 9, "no text"),
        (b"town,land\nOslo,Norway\n", "no column"), (b"learner,name\n", "no learner"), (b"learner\n../x\n", "no learner"),
        (b"jane doe\n", "no column"), (b"\xd0\xcf\x11\xe0 old excel", "spreadsheet"),
        (b'learner,name\n"' + b"x" * 200_000, "CSV"),
    ],
)  # fmt: skip
def test_a_wrong_csv_is_told_with_place_and_next_command(data: bytes, fact: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=fact) as told:
        _read(tmp_path, data)
    assert str(tmp_path) in told.value.place
    assert told.value.next_command


def test_no_such_csv(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(UsageError, match="cannot be read"):
            read_names(path)


@pytest.mark.parametrize("name", ["", " ", "a/b", "..", ".x", "a\\b", "a+b", "a\nb", "x" * 121, "a*", "[a]", "\udc80"])
def test_names_that_are_no_folders(name: str) -> None:
    assert why_no_learner(name)


@pytest.mark.parametrize("name", ["jane", "Jane Doe", "jane@u.edu", "Łukasz", "O'Neil", "李雷", "a.b-c_d", "007"])
def test_names_that_are_folders(name: str) -> None:
    assert not why_no_learner(name)
    assert plain(name) == plain(name.upper())
    assert bare(name)


def test_uploads_are_filed_under_the_rosters_ids(collecting: Collecting, course: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text(CANVAS + '"Absent, Al",125,S-3,aa3,A,\n', encoding="utf-8")
    answers = [notebook("01_first", number) for number in range(8)]
    files = {
        "doejane_123_9_x.ipynb": answers[0], "ro\u0308ebob_LATE_124_10_x.ipynb": answers[1], "stranger_77_11_x.ipynb": answers[2],
        "doejane_124_12_x.ipynb": answers[3],
    }  # fmt: skip
    collected = collecting(files, names=names)
    assert sorted(path.name for path in (course / "submitted").iterdir()) == ["br2", "jd1"]
    assert (course / "submitted/jd1/01_first/01_first.ipynb").read_bytes() == answers[0]
    endings = {line.name: line.status for line in collected.needs_person}
    assert endings == {"stranger_77_11_x.ipynb": "no learner known", "doejane_124_12_x.ipynb": "ambiguous learner"}
    assert collected.missing == ("aa3",)


@pytest.mark.parametrize(
    "name",
    [
        "hw2 jane doe final.ipynb", "Doe, Jane/x.ipynb", "JANE DOE/work/x.ipynb", "group 7/jd1/x.ipynb", "jd1.ipynb",
        "my_01_first_(Jane Doe)_v2.ipynb",
    ],
)  # fmt: skip
def test_with_a_roster_names_are_found_where_they_stand(
    name: str, collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    names = tmp_path / "names.csv"
    names.write_text(PARTICIPANTS, encoding="utf-8")
    collecting({name: notebook("01_first", 1)}, names=names)
    assert [path.name for path in (course / "submitted").iterdir()] == ["jd1"]


@pytest.mark.parametrize(
    "name", ["jd1 smith.ipynb", "jane doe-smith.ipynb", "bob and jd1.ipynb", "Jane Doeson/x.ipynb"]
)
def test_a_stranger_whose_name_holds_a_learners_is_not_the_learner(
    name: str, collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    names = tmp_path / "names.csv"
    names.write_text(PARTICIPANTS, encoding="utf-8")
    collected = collecting({name: notebook("01_first", 1)}, names=names)
    assert not (course / "submitted").exists()
    assert [line.status for line in collected.needs_person] in (["no learner known"], ["ambiguous learner"])


def test_moodles_groups_stand_before_the_learner(collecting: Collecting, course: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text(WORKSHEET, encoding="utf-8")
    collecting({"Group A-Jane Doe_7_assignsubmission_file_/x.ipynb": notebook("01_first", 1)}, names=names)
    assert [path.name for path in (course / "submitted").iterdir()] == ["jd1"]


def test_the_names_are_kept_and_read_later_uploads(collecting: Collecting, course: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text(CANVAS, encoding="utf-8")
    collecting({"doejane_123_9_x.ipynb": notebook("01_first", 1)}, "one.zip", names=names)
    kept = (course / "roster.csv").read_text(encoding="utf-8")
    assert kept.splitlines()[0] == "learner,name,email,also"
    files = {
        "röebob_124_10_x.ipynb": notebook("01_first", 2), "somebody_123_11_02_other.ipynb": notebook("02_other", 3),
        "stranger_77_11_x.ipynb": notebook("01_first", 4),
    }  # fmt: skip
    collected = collecting(files, "two.zip")
    assert sorted(str(path.relative_to(course / "submitted")) for path in (course / "submitted").glob("*/*")) == [
        "br2/01_first", "jd1/01_first", "jd1/02_other", "stranger/01_first",
    ]  # fmt: skip
    assert any("not on the roster: stranger; " in note and "-m course roster add" in note for note in collected.notes)
    assert (course / "roster.csv").read_text(encoding="utf-8") == kept, "only names that a person gave are kept"


def test_a_dry_run_keeps_no_names(collecting: Collecting, course: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text(CANVAS, encoding="utf-8")
    collecting({"doejane_123_9_x.ipynb": notebook("01_first", 1)}, names=names, dry_run=True)
    assert not (course / "roster.csv").exists()


@pytest.mark.parametrize("table", [HANDMADE, CANVAS, PARTICIPANTS, WORKSHEET, GERMAN, NBGRADER])
def test_what_is_kept_says_the_same_as_the_table_that_came(table: str, course: Path, tmp_path: Path) -> None:
    from nbproof.collect.roster import enrol, kept_roster

    came = _read(tmp_path, table)
    assert enrol(course, came.members) == ["jd1", "br2"]
    first = (course / "roster.csv").read_bytes()
    assert enrol(course, came.members) == []
    assert (course / "roster.csv").read_bytes() == first, "again changes nothing"
    kept = kept_roster(course)
    assert kept is not None and kept.learners == came.learners and not kept.strict
    for name in ("Jane Doe", "doejane", "Doe, Jane", "jd1"):
        assert kept.who(name) == came.who(name)
    if table in (CANVAS, HANDMADE, NBGRADER):
        assert kept.who("", "124") == {"br2"}
    else:
        assert not kept.who("", "124"), "what Moodle calls somebody means nothing in the next download"
    assert not kept.who("Participant 124")


def test_a_name_is_known_with_its_last_words_in_front_unless_that_is_somebody_else(tmp_path: Path) -> None:
    table = tmp_path / "class.csv"
    table.write_text("learner,name\nada,Ada King Lovelace\nanna,Anna Maria\nmaria,Maria Anna\n")
    roster = read_names(table)
    assert roster.who("lovelaceadaking") == roster.who("kinglovelaceada") == {"ada"}
    assert (roster.who("annamaria"), roster.who("mariaanna")) == ({"anna"}, {"maria"})
    assert roster.who("adalovelace") == frozenset()


def test_two_of_one_name_are_told_once_whatever_the_spellings(tmp_path: Path) -> None:
    roster = _read(tmp_path, 'Student,ID,SIS Login ID\n"Kim, Minji",71,s1\n"Kim, Minji",72,s2\n"Doe, Jane",73,s3\n')
    (note,) = roster.notes
    assert "'minji kim' stands for s1 and s2" in note
    handmade = _read(tmp_path, "learner,name\ns1,Minji Kim\ns2,Minji Kim\ns3,Ann Li\ns4,Ann Li\n").notes
    assert ["'minji kim'" in note for note in handmade] == [False, True]
    assert len(handmade) == 2
