"""Names: the CSV of three kinds in every encoding, and words that are no learner's and never become one."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest

from nbproof.errors import UsageError
from nbproof_lms.roster import Member, Roster, enrol, kept_roster, members_of, read_names
from tests import main
from tests.lms.conftest import Collecting
from tests.lms.uploads import everything, notebook, zipped

A, B = notebook("01_first", "of a"), notebook("01_first", "of b")
HANDMADE = "learner,name,number\njd1,Jane Doe,123\nbr2,Bob Röe,124\n"
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Hooks (991)\n"
    "    Points Possible,,,,,10\n"
    '"Doe, Jane",123,S-1,jd1,A,\n"Röe, Bob",124,S-2,br2,A,\n"Student, Test",999,,,A,\n'
)
SPLIT = (
    "LastName,FirstName,ID,SIS Login ID,Section,Hooks (991)\n    Points Possible,,,,,10\n"
    "Doe,Jane,123,jd1,A,\nRöe,Bob,124,br2,A,\nStudent,Test,999,aa0f,A,\n"
)
WORKSHEET = (
    "Identifier,Full name,ID number,Email address,Status\n"
    "Participant 123,Jane Doe,jd1,jane@u.edu,Submitted\nParticipant 124,Bob Röe,br2,bob@u.edu,Submitted\n"
)
GERMAN = "Vorname;Nachname;ID-Nummer;E-Mail-Adresse\nJane;Doe;jd1;jane@u.edu\nBob;Röe;br2;bob@u.edu\n"
CATALAN = "Nom,Cognoms,Número ID,Adreça electrònica\nJane,Doe,jd1,jane@u.edu\nBob,Röe,br2,bob@u.edu\n"
FRENCH = "Prénom,Nom,Nom d'utilisateur,Institution\nJane,Doe,jd1,U1\nBob,Röe,br2,U1\n"
CLASSROOM = "identifier,github_username,github_id,name\njd1,jane-doe,5,Jane Doe\nbr2,roe7,6,Bob Röe\n"  # GitHub's own
NBGRADER = "id,first_name,last_name,email,lms_user_id\njd1,Jane,Doe,jane@u.edu,123\nbr2,Bob,Röe,bob@u.edu,124\n"


def _read(tmp_path: Path, data: str | bytes) -> Roster:
    path = tmp_path / "names.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_names(path)


@pytest.mark.parametrize(
    "table", [HANDMADE, f"sep=,\r\n{HANDMADE}", CANVAS, SPLIT, WORKSHEET, GERMAN, CATALAN, FRENCH, NBGRADER, CLASSROOM]
)
@pytest.mark.parametrize("code", ["utf-8-sig", "utf-16", "cp1252"])
def test_every_kind_in_every_encoding(table: str, code: str, tmp_path: Path) -> None:
    roster = _read(tmp_path, table.encode(code))
    assert roster.learners == ("jd1", "br2")
    for name in ("Jane Doe", "jane  doe", "JD1"):
        assert roster.named(name) == {"jd1"}, name
    for name in ("Bob Röe", "bob ro\u0308e", "Bob Roe", "bobroe"):
        assert roster.called(name) == {"br2"}, name
    assert roster.named("Doe, Jane") == roster.called("doejane") == {"jd1"}


@pytest.mark.parametrize(
    ("table", "who"),
    [
        # An id is nobody else's alias.
        ("ann1,Ann Li\nann2,Ann Li\nann,Someone\nx,ann\n", {"Ann Li": {"ann1", "ann2"}, "ann": {"ann"}}),
        ("AB1,Jan Poe\nab1,Jo Fox\n", {"AB1": {"AB1"}, "ab1": {"ab1"}, "Ab1": {"AB1", "ab1"}}),
        ("ada,Ada King Lovelace\n", {"lovelaceadaking": {"ada"}, "kinglovelaceada": {"ada"}, "adalovelace": set()}),
    ],
)
def test_a_name_that_may_be_two_learners_is_never_guessed(table: str, who: dict[str, set[str]], tmp_path: Path) -> None:
    roster = _read(tmp_path, f"learner,name\n{table}")
    assert {name: roster.called(name) for name in who} == who


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"", "empty"),
        (b"PK\x03\x04rest", "no CSV"),
        (b"town,land\nOslo,Norway\n", "no column"),
        (b"learner\n../x\n", "no learner"),
        (b"learner,name,number\njd1,Doe, Jane,123\n", "more cells.* line 2 .jd1,Doe"),
        (b"sep=;\nlearner;name\njd1;Jane Doe;of Oslo\n", "more cells.* line 3 "),
        (b'learner,name\n"' + b"x" * 200_000, "CSV"),
        (None, "cannot be read"),
    ],
)
def test_a_wrong_csv_is_told_with_place_and_next_command(data: bytes | None, fact: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=fact) as told:
        read_names(tmp_path) if data is None else _read(tmp_path, data)
    assert str(tmp_path) in told.value.place and told.value.next_command


@pytest.mark.parametrize("table", [CANVAS, SPLIT, WORKSHEET])
def test_what_is_kept_says_the_same_as_the_table_that_came(table: str, course: Path, tmp_path: Path) -> None:
    came = _read(tmp_path, table)
    done = enrol(course, came.members)
    assert {*done.added} == {"jd1", "br2"}
    first = (course / "roster.csv").read_bytes()
    assert enrol(course, came.members).added == ()
    assert (course / "roster.csv").read_bytes() == first, "again changes nothing"
    kept = kept_roster(course)
    assert kept is not None and kept.learners == came.learners
    for name in ("Jane Doe", "doejane", "Doe, Jane", "jd1", "Participant 124"):
        assert kept.called(name) == came.called(name)
    for number in ("124", "participant 124"):
        assert kept.numbered(number) == came.numbered(number)


def _cure(told: str, start: str) -> list[str]:
    """The command that the output holds, as arguments."""
    line = next(line for line in told.splitlines() if start in line)
    command = line[line.index(start) + len(" -m course ") :].partition(";")[0]
    return shlex.split(command.replace("NAME", "jane"))


@pytest.mark.parametrize("name", ["01_first.ipynb", "some thing.zip"])
def test_the_cure_that_is_printed_works(
    name: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    upload = tmp_path / "up load.zip"
    upload.write_bytes(zipped({name: zipped({"x.ipynb": A}) if name.endswith(".zip") else A}))
    assert main(["collect", str(upload), "--course", str(course)]) == 1
    assert main(_cure(capsys.readouterr().out, " -m course collect ")) == 0
    assert everything(course / "submitted") == {"jane/01_first/01_first.ipynb": A}


TWO_SYSTEMS = {
    "Canvas": 'Student,ID,SIS User ID,SIS Login ID,Section\n"Doe, Jane",123,4711,jd1,A\n"Röe, Bob",124,4712,br2,A\n',
    "Moodle": "First name,Last name,ID number,Email address\nJane,Doe,4711,jane@u.edu\nZoe,Zed,4713,z@u.edu\n",
    "by hand": "learner,email,number\njanedoe,jane@u.edu,123\n",
}  # fmt: skip


@pytest.mark.parametrize("second", [name for name in TWO_SYSTEMS if name != "Canvas"])
@pytest.mark.parametrize("canvas_first", [True, False])
def test_equal_ids_of_two_systems_are_one_person(second: str, canvas_first: bool, course: Path, tmp_path: Path) -> None:
    tables = [TWO_SYSTEMS["Canvas"], TWO_SYSTEMS[second]]
    for table in tables if canvas_first else tables[::-1]:
        enrol(course, _read(tmp_path, table).members)
    kept = kept_roster(course)
    assert kept is not None
    (jane,) = kept.named("Jane Doe") | kept.numbered("123")
    for name in ("jd1", "jane@u.edu"):
        assert kept.named(name) == {jane}, name
    assert len([one for one in kept.learners if one not in ("br2", "4713")]) == 1


def test_a_number_of_canvas_and_a_number_of_matriculation_may_be_equal(course: Path, tmp_path: Path) -> None:
    enrol(course, _read(tmp_path, CANVAS).members)
    enrol(course, _read(tmp_path, "First name,Last name,Username,ID number\nEve,Noe,en9,123\nAl,Poe,ap8,125\n").members)
    kept = kept_roster(course)
    assert kept is not None
    assert set(kept.learners) == {"jd1", "br2", "en9", "ap8"}
    assert kept.numbered("123") == {"jd1"}, "what a file of Canvas bears is Canvas's number"


@pytest.mark.parametrize(
    ("before", "came", "now"),
    [
        ("1001,Ada King", ["1004,Dan King"], {"1001": "Ada King", "1004": "Dan King"}),
        ("ada,Ada King", ["1001,Ada King", "1004,Dan King"], {"ada": "Ada King", "1004": "Dan King"}),
        ("ada,", ["1001,Ada King", "1004,Dan King"], {"ada": "", "1001": "Ada King", "1004": "Dan King"}),
        ("ada,Ada King", ["1004,", "1001,Ada King"], {"ada": "Ada King", "1004": ""}),
    ],
    ids=["one comes", "both come", "the first has no name yet", "one who comes has none"],
)
def test_who_shares_an_address_and_has_another_name_is_another(
    before: str, came: list[str], now: dict[str, str], course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody is gone from the roster, or has another's name, because a family has one address."""
    enrol(course, _read(tmp_path, f"learner,name,email\n{before},king@home.org\n").members)
    (tmp_path / "school.csv").write_text("learner,name,email\n" + "".join(f"{one},king@home.org\n" for one in came))
    assert main(["roster", "import", str(tmp_path / "school.csv"), "--course", str(course)]) == 0
    assert "<king@home.org> may be one person. If they are: make one line of the two" in capsys.readouterr().out
    assert main(["roster", "add", "zoe", "--name", "Zoe Z", "--email", "king@home.org", "--course", str(course)]) == 0
    kept = kept_roster(course)
    assert kept is not None
    assert {one.learner: one.name for one in kept.members} == {**now, "zoe": "Zoe Z"}


@pytest.mark.parametrize(
    ("before", "came"),
    [
        ("ada,Ada King,king@home.org,", ["1001,Ada King,king@home.org", "1004,Ada May King,king@home.org"]),
        ("ada,,king@home.org,", ["1001,Ada King,king@home.org", "1004,A. King,king@home.org"]),
        ("ada,Ada King,ada@u.edu,id 1001", ["1001,Ada Lovelace,al@u.edu"]),
    ],
    ids=["two names", "no name yet", "another address, too"],
)
def test_who_is_one_person_after_all_is_one_line_once_somebody_has_made_it(
    before: str, came: list[str], course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "roster.csv").write_text(f"learner,name,email,also\n{before}\n")
    (tmp_path / "school.csv").write_text("learner,name,email\n" + "\n".join(came))
    call = ["roster", "import", str(tmp_path / "school.csv"), "--course", str(course)]
    assert main(call) == 0 and len(members_of(course)) > 1
    also = re.findall("make one line of the two in roster.csv, with (.*) in its column also", capsys.readouterr().out)
    (course / "roster.csv").write_text(f"learner,name,email,also\n{before}{' | '.join(['', *also])}\n")
    assert main(call) == 0
    assert "make one line" not in capsys.readouterr().out and [one.learner for one in members_of(course)] == ["ada"]


def test_a_name_that_another_has_taken_comes_back_by_the_command_that_is_printed(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    enrol(course, [Member("ada", "King, Ada", "ada@u.edu")])
    assert main(["roster", "add", "ada", "--name", "Dan Orr", "--course", str(course)]) == 0
    step = (
        capsys.readouterr().out.partition("the name comes back by: ")[2].partition(" -m course ")[2].partition("\n")[0]
    )
    assert main([*shlex.split(step), "--course", str(course)]) == 0
    assert members_of(course) == (Member("ada", "King, Ada", "ada@u.edu"),)


def test_two_learners_of_one_name_are_named_and_stay_two(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "canvas.csv").write_text('Student,ID,SIS Login ID\n"Doe, Jane",123,jd1\n"Noe, Eve",125,en9\n')
    (tmp_path / "moodle.csv").write_text(
        "First name,Last name,Email address\nJane,Doe,jane@home.org\nAl,Poe,al@home.org\n"
    )
    assert main(["roster", "import", str(tmp_path / "canvas.csv"), "--course", str(course)]) == 0
    assert "may be one person" not in capsys.readouterr().out
    assert main(["roster", "import", str(tmp_path / "moodle.csv"), "--course", str(course)]) == 0
    assert "jd1 Jane Doe and jane@home.org Jane Doe may be one person" in capsys.readouterr().out
    assert main(["roster", "add", "jd1", "--also", "jane@home.org", "--course", str(course)]) == 2
    assert "make one line of the two" in capsys.readouterr().err
    (tmp_path / "w.csv").write_text(
        "Identifier,ID number,Full name\nParticipant 7,j2,Jane Doe\nParticipant 8,e2,Eve Noe\n"
    )
    assert main(["roster", "import", str(tmp_path / "w.csv"), "--course", str(course)]) == 1
    assert "so nothing is taken: j2 Jane Doe, e2 Eve Noe" in capsys.readouterr().err and len(members_of(course)) == 4
    assert main(["roster", "add", "e2", "--name", "Eve Noe", "--course", str(course)]) == 0
    assert main(["roster", "import", str(tmp_path / "w.csv"), "--course", str(course)]) == 0


def test_a_learner_gets_other_names_by_hand_and_by_a_table_of_a_few(
    collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    add = ["roster", "add", "jd1", "--name", "Jane Doe", "--also", "Janey", "--also", "0815", "--course", str(course)]
    assert main(add) == 0
    nicks = tmp_path / "nicks.csv"
    nicks.write_text("learner,nick\njd1,Jo\nzz3,Zed\n")
    collecting({"Janey/x.ipynb": A, "Zed/x.ipynb": A}, "one.zip", names=nicks)
    collecting({"whoever_0815_5_02_other.ipynb": notebook("02_other", 1), "zed_2_6_x.ipynb": B}, "two.zip")
    collecting({"Jo/03_third.ipynb": notebook("03_third", 1), "Zed/x.ipynb": B}, "three.zip")
    assert {path.name for path in (course / "submitted/jd1").iterdir()} == {"01_first", "02_other", "03_third"}
    assert {path.name for path in (course / "submitted").iterdir()} == {"jd1", "zz3"}


def test_moodles_grading_worksheet_in_any_language(tmp_path: Path) -> None:
    head, word = "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung", "Teilnehmer/in"
    roster = _read(tmp_path, f"{head}\n{word}123,Jane Doe,jane@u.edu,S,-\n{word}124,Bob Röe,bob@u.edu,S,-\n")
    assert roster.learners == ("jane@u.edu", "bob@u.edu")
    assert roster.numbered("participant 124") == roster.called("Bob Roe") == {"bob@u.edu"}
    people = Roster((Member("ada", also=("participant 7",)), Member("ben", also=("participant 7",)))).people([])
    assert all("number participant 7" in one.also for one in people), "grade files have to know that two have it"


def test_what_moodle_calls_namesakes_is_kept_and_is_no_number_of_canvas(
    collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    two = "Identifier,Full name,ID number\nParticipant 123,Jane Doe,s1\nParticipant 124,Jane Doe,s2\n"
    assert enrol(course, _read(tmp_path, two.replace("Participant 12", "x")).members).added
    assert not enrol(course, _read(tmp_path, two).members).added
    collecting({f"Jane Doe_{at}_assignsubmission_file_/x.ipynb": data for at, data in ((123, A), (124, B))})
    assert sorted(path.name for path in (course / "submitted").iterdir()) == ["s1", "s2"]
    kept = kept_roster(course)
    assert kept is not None and not kept.numbered("124")


OWN = {
    "Vorname,Nachname,Matrikelnummer,E-Mail": "Matrikelnummer", "Prénom;Nom;N° étudiant;Courriel": "N° étudiant",
    "名,姓,学号,电子邮件地址": "学号", "이름,성,학번,email": "학번", "Nombre,Apellidos,Matrícula,Correo": "Matrícula",
    "First name,Last name,Matr.-Nr.,Email": "Matr.-Nr.", "firstname,lastname,STUDENT_ID,email": "STUDENT_ID",
}  # fmt: skip


@pytest.mark.parametrize("head", OWN)
def test_a_number_of_matriculation_is_the_id_in_many_languages_and_that_is_said(head: str, tmp_path: Path) -> None:
    roster = _read(tmp_path, f"{head},Gruppe\nZoë,Zed,0012345,zoe@u.edu,A\nBob,Roe,0012346,bob@u.edu,A\n".replace(
        ",", ";" if ";" in head else ","))  # fmt: skip
    assert roster.learners == ("0012345", "0012346") and roster.named("zoe@u.edu") == {"0012345"}
    assert f"column {OWN[head]!r}" in roster.notes[0]


def test_a_column_that_is_not_used_is_named(tmp_path: Path) -> None:
    table = 'Student,ID,SIS Login ID,Section,Hooks (991),Empty\n"Doe, Jane",1,jd,A,7,\n"Roe, Bob",2,br,B,8,\n'
    assert _read(tmp_path, table).notes[1:] == (
        "names.csv: read as other ids: 'ID'; who is on the roster by one of these keeps the id there",
        "names.csv: not used: 'Section', 'Hooks (991)'",
    )
    assert _read(tmp_path, HANDMADE).notes == ()
    (named, left) = _read(tmp_path, "Vorname,Nachname,Note\nAda,King,x\nBen,Okri,y\n").notes
    assert "no column holds ids" in named and left == "names.csv: not used: 'Note'"
    (mailed,) = _read(tmp_path, "Name;Mail\nAda King;ada@u.edu\n").notes
    assert "no column holds ids" in mailed and "in the column 'Mail'. If one does, call it 'learner'" in mailed


FORMULAS = ["=HYPERLINK(1)", "+1", "-x", "@x", "'=1", "''@", "＝1", "' =2", "'x", "x=1", "\t=x"]


def test_a_roster_holds_no_formula_and_gives_back_what_it_was_given(course: Path) -> None:
    members = [
        Member(f"={at}", sign, f"={at}@u.edu", (f"{sign.strip()} {at} or so",)) for at, sign in enumerate(FORMULAS)
    ]
    enrol(course, members)
    with (course / "roster.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in list(csv.reader(file))[1:] for cell in row]
    assert not [cell for cell in cells if cell.strip()[:1] in tuple("=+-@\t＝＋－＠")]
    told = {member.learner: member for member in members_of(course)}
    assert [told[one.learner] for one in members] == members
    before = (course / "roster.csv").read_bytes()
    enrol(course, members_of(course))
    assert (course / "roster.csv").read_bytes() == before


SAME_CELLS = {
    "team": ("learner,name,team\nann,Ann A,team1\nben,Ben B,team2\n", "learner,name,team\ncid,Cid C,team2\n"),
    "an address": ("learner,email\nann,ann@u.edu\nben,ben@u.edu\n", "learner,github\ncid,ben@u.edu\n"),
}
"""Two tables, in which what is given to one alone is another in every line."""


@pytest.mark.parametrize("case", SAME_CELLS)
def test_what_is_no_id_makes_no_two_people_one(case: str, course: Path, tmp_path: Path) -> None:
    first, second = SAME_CELLS[case]
    enrol(course, _read(tmp_path, first).members)
    before = members_of(course)
    for added in (("cid",), ()):
        assert enrol(course, _read(tmp_path, second).members).added == added
        assert members_of(course)[:2] == before


def test_whoever_gets_another_name_by_an_equal_id_is_named(course: Path, tmp_path: Path) -> None:
    head = "First name,Last name,ID number,Email address\n"
    enrol(course, _read(tmp_path, head + "Bob,Roe,1234,bob@u.edu\nJane,Doe,1235,jane@u.edu\n").members)
    done = enrol(course, _read(tmp_path, head + 'Eve,Low,1234,eve@u.edu\n"Doe,",Jane,1235,jane@u.edu\n').members)
    (note,) = done.notes
    assert note.startswith("1234 was Bob Roe, and is Eve Low now")


def _import(course: Path, table: Path, data: bytes | str) -> int:
    table.write_bytes(data if isinstance(data, bytes) else data.encode())
    return main(["roster", "import", str(table), "--course", str(course)])


@pytest.mark.parametrize(("code", "name"), [("cp1250", "Michał Żółć"), ("gbk", "王小明"), ("cp1251", "Иван Петров")])
def test_an_encoding_that_is_a_guess_is_said_and_what_is_said_helps(
    code: str, name: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, text = tmp_path / "class.csv", f"learner,name\nada,Ada King\nmz,{name}\n"
    assert _import(course, table, text.encode(code)) == 0
    guess = name.encode(code).decode("cp1252")
    told = capsys.readouterr().out
    assert f"such as {guess!r}" in told and "save it as CSV (UTF-8), and run the same command again" in told
    assert _import(course, table, text) == 0
    assert "UTF-8" not in capsys.readouterr().out
    assert [one.names[:2] for one in members_of(course)] == [["ada", "Ada King"], ["mz", name]]


HEAD = "learner,name,email,number\n"
JOHN, ZOE = "jdoe,John Doe,john@u.edu,123\n", "zz,Zoe Zed,zoe@u.edu,7\n"
FREED = {
    "the login is another's": "jdoe2,John Doe,john@u.edu,123\njdoe,Jane Doe,jane@u.edu,124\n",
    "and who had it is gone": "jdoe,Jane Doe,jane@u.edu,124\n",
    "without names": "jdoe2,,john@u.edu,123\njdoe,,jane@u.edu,124\n",
    "two have changed": "jdoe,Zoe Zed,zoe@u.edu,7\nzz,John Doe,john@u.edu,123\n",
}


@pytest.mark.parametrize("case", FREED)
def test_an_id_that_another_has_now_changes_nothing_and_is_named(
    case: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = tmp_path / "class.csv", course / "roster.csv"
    _import(course, table, HEAD + JOHN + ZOE)
    before = kept.read_bytes()
    assert _import(course, table, HEAD + FREED[case]) == 1
    told = capsys.readouterr().err
    assert kept.read_bytes() == before and "jdoe John Doe <john@u.edu> is on the roster, and jdoe" in told
    assert "give who comes an id of their own there" in told
    assert _import(course, table, HEAD + re.sub("^(jdoe|zz),", r"new-\1,", FREED[case], flags=re.MULTILINE)) == 0
    now = {one.learner: one.email for one in members_of(course)}
    assert now == {"jdoe": "john@u.edu", "zz": "zoe@u.edu"} | ({} if "two" in case else {"new-jdoe": "jane@u.edu"})


def test_one_who_has_changed_all_is_the_same_once_somebody_has_said_so(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, married = tmp_path / "class.csv", "jdoe,John Smith,smith@u.edu,\n"
    _import(course, table, HEAD + "jdoe,John Doe,john@u.edu,\n")
    assert _import(course, table, HEAD + married) == 1
    assert "roster add ID --name NAME --email ADDRESS" in capsys.readouterr().err
    said = ["roster", "add", "jdoe", "--name", "John Smith", "--email", "smith@u.edu", "--course", str(course)]
    assert main(said) == 0 and _import(course, table, HEAD + married) == 0
    assert [(one.learner, one.name) for one in members_of(course)] == [("jdoe", "John Smith")]


@pytest.mark.parametrize(
    "second", ["jdoe,John Smith,john@u.edu,\n", "jdoe,,smith@u.edu,\n", "jdoe,Doe John,js@u.edu,\n"]
)
def test_a_change_that_something_else_confirms_is_taken_and_who_is_missing_is_named(
    second: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "class.csv"
    assert _import(course, table, HEAD + JOHN + ZOE) == 0
    assert "stay on the roster" not in capsys.readouterr().out
    assert _import(course, table, HEAD + second) == 0
    assert "on the roster, and not in class.csv: zz: they stay there" in capsys.readouterr().out
