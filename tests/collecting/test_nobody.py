"""Names that are no learner's never become one; what is nobody's is listed with a command that mends it."""

from __future__ import annotations

import shlex
from email.message import EmailMessage
from pathlib import Path

import pytest

from nbproof.cli.main import main
from nbproof.collect.contents import LessonBook
from tests.collecting.conftest import Collecting
from tests.collecting.uploads import everything, notebook, tarred, zipped

A, B = notebook("01_first", "of a"), notebook("01_first", "of b")
ROOT = Path(__file__).parent.parent.parent
TEXTS = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


@pytest.mark.parametrize(
    "name",
    [
        "01_first.pdf", "01_first.docx", "01_first.ipynb.pdf", "Копия 01_first.ipynb", "01_first — копия.ipynb",
        "Kopie von 01_first.ipynb", "01_first - Kopia (2).ipynb", "01_first (コピー).ipynb", "副本 01_first.ipynb",
        "Cópia de 01_first.ipynb", "Hand-in lesson 1/01_first.ipynb", "Hand-in lesson 1.ipynb", "Homework 3 physics/x.ipynb",
        "Abgabe Woche 2/x.ipynb", "Devoir n°3/x.ipynb", "First/x.ipynb", "What 01 first is about, in one sentence.ipynb",
        "analysis.ipynb", "analysis.ipynb.txt", "pdf/x.ipynb", "01_first_pdf.ipynb", "Untitled — копия/x.ipynb",
        "Lösung 1/x.ipynb", "Lo\u0308sung 1/x.ipynb", "домашнее задание 1/x.ipynb", "Copy (2) of 01_first.ipynb",
    ],
)  # fmt: skip
@pytest.mark.parametrize("upload", ["upload.zip", "outer.zip"])
def test_what_is_no_name_is_nobodys(name: str, upload: str, collecting: Collecting, course: Path) -> None:
    collected = collecting({name: A}, upload)
    assert [line.status for line in collected.needs_person] == ["no learner known"]
    assert not (course / "submitted").exists()


@pytest.mark.parametrize(
    "files",
    [
        {"outer.zip": zipped({"01_first.ipynb": A})}, {"outer.zip": zipped({"outer/01_first.ipynb": A})},
        {"work.tar.gz": tarred({"x.ipynb": A})}, {"a.zip": zipped({"b.zip": zipped({"x.ipynb": A})})},
        {"submission.zip": zipped({"Копия.ipynb": A})}, {"jane.zip": zipped({"x.ipynb": A})},
    ],
)  # fmt: skip
def test_an_archives_name_alone_is_nobodys(files: dict[str, bytes], collecting: Collecting, course: Path) -> None:
    collected = collecting(files)
    assert [line.status for line in collected.needs_person] == ["no learner known"]
    assert not (course / "submitted").exists()


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("01_first_jane.zip", "jane"), ("01_first_jane — копия.ipynb", "jane"), ("Kopie von jane 01_first.ipynb", "jane"),
        ("jane_doe/Копия.ipynb", "jane_doe"), ("Di Wu/x.ipynb", "Di Wu"), ("Ян Копылов/x.ipynb", "Ян Копылов"),
        ("01_first_jane.pdf", "jane"), ("01_first_jane.doe.ipynb", "jane.doe"),
    ],
)  # fmt: skip
def test_a_name_that_a_layout_holds_is_found(name: str, learner: str, collecting: Collecting) -> None:
    collected = collecting({name: zipped({"x.ipynb": A}) if name.endswith(".zip") else A})
    assert {line.learner for line in collected.lines if line.learner} == {learner}


def test_whoever_handed_in_before_is_known_by_a_file_alone(collecting: Collecting, course: Path) -> None:
    collecting({"jane/x.ipynb": A}, "folder")
    collected = collecting({"jane (1).ipynb": B, "jane.zip": zipped({"x.ipynb": B})})
    assert not collected.needs_person
    assert {line.learner for line in collected.lines if line.learner} == {"jane"}


def _cure(told: str, start: str) -> list[str]:
    """The command that the output holds, as arguments."""
    line = next(line for line in told.splitlines() if start in line)
    command = line[line.index(start) + len(" -m course ") :].partition(";")[0]
    return shlex.split(command.replace("NAME", "jane"))


@pytest.mark.parametrize("name", ["01_first.ipynb", "Копия/x.ipynb", "some thing.zip"])
def test_the_cure_that_is_printed_works(
    name: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    upload = tmp_path / "up load.zip"
    upload.write_bytes(zipped({name: zipped({"x.ipynb": A}) if name.endswith(".zip") else A}))
    assert main(["collect", str(upload), "--course", str(course)]) == 1
    assert main(_cure(capsys.readouterr().out, " -m course collect ")) == 0
    assert everything(course / "submitted") == {"jane/01_first/01_first.ipynb": A}


def _mail(sender: str, **files: bytes) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = sender, "my homework"
    mail.set_content("see attached")
    for name, data in files.items():
        mail.add_attachment(data, "application", "octet-stream", filename=name.replace("__", "."))
    return mail.as_bytes()


def test_a_mail_is_opened_and_its_sender_looked_up(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mail = tmp_path / "Fwd homework.eml"
    mail.write_bytes(_mail("Jané <Jane@U.edu>", x__ipynb=A, bob__csv=b"1"))
    collect = ["collect", str(mail), "--course", str(course)]
    assert main(collect) == 1
    told = capsys.readouterr().out
    assert not (course / "submitted").exists()
    assert main(_cure(told, " -m course roster add ")) == 0
    assert main(collect) == 0
    assert everything(course / "submitted") == {"jane/01_first/01_first.ipynb": A, "jane/01_first/bob.csv": b"1"}


def _box(*mails: bytes, at: str = "Mon Nov 16 10:0{0}:00 2026") -> bytes:
    """A mailbox, as Thunderbird, Gmail's export and mutt write it."""
    told = (b"From someone@u.edu %s\n%s\n\n" % (at.format(n).encode(), mail) for n, mail in enumerate(mails))
    return b"".join(told)


@pytest.mark.parametrize("name", ["class.mbox", "Inbox", "mbox", "class (1).mbox", "class.MBOX"])
def test_a_mailbox_is_opened_and_the_last_mail_of_each_counts(
    name: str, collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    names = tmp_path / "names.csv"
    names.write_text("learner,email\njane,jane@u.edu\nbob,bob@u.edu\n")
    box = _box(
        _mail("dean@u.edu"), _mail("jane@u.edu", x__ipynb=A), _mail("bob@u.edu", x__ipynb=A, table__csv=b"1"),
        _mail("Jane <JANE@u.edu>", x__ipynb=B), _mail("stranger@else.where", x__ipynb=A), _mail("no, address", bob__ipynb=A),
    )  # fmt: skip
    collected = collecting(box, name, names=names)
    assert everything(course / "submitted") == {
        "bob/01_first/01_first.ipynb": A, "bob/01_first/table.csv": b"1", "jane/01_first/01_first.ipynb": B,
    }  # fmt: skip
    assert {line.name.split("/")[-2] for line in collected.needs_person} == {"mail 5", "mail 6"}
    assert any("stranger@else.where" in line.why for line in collected.needs_person)


def test_mails_of_a_mailbox_come_in_the_order_of_their_delivery(
    collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    """Sorted the other way round, as some programs export, the later mail still counts."""
    names = tmp_path / "names.csv"
    names.write_text("learner,email\njane,jane@u.edu\n")
    first, last = (
        _box(_mail("jane@u.edu", x__ipynb=A)),
        _box(_mail("jane@u.edu", x__ipynb=B), at="Tue Nov 17 08:00:00 2026"),
    )
    collecting(last + first, "class.mbox", names=names)
    assert everything(course / "submitted") == {"jane/01_first/01_first.ipynb": B}


@pytest.mark.parametrize(
    "box",
    [
        b"",
        b"\0\xff" * 999,
        b"From \n" * 3000,
        b"From a\nFrom: b\nContent-Type: multipart/mixed; boundary=a\n\n--a\n" * 50,
    ],
)
def test_a_hostile_mailbox_is_listed_and_its_neighbours_are_taken(
    box: bytes, collecting: Collecting, course: Path
) -> None:
    collected = collecting({"m/x.mbox": box, "jane/x.ipynb": A})
    assert [line.status for line in collected.needs_person] == ["no notebook"]
    assert everything(course / "submitted") == {"jane/01_first/01_first.ipynb": A}


def test_a_mail_within_an_lms_download_is_the_lmss_learners(
    collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    names = tmp_path / "names.csv"
    names.write_text("learner,email\njane,jane@u.edu\nbob,bob@u.edu\n")
    collecting(
        {"bob_1_5_mail.eml": _mail("jane@u.edu", x__ipynb=A), "m/y.eml": _mail("jane@u.edu", x__ipynb=B)}, names=names
    )
    assert everything(course / "submitted") == {"bob/01_first/01_first.ipynb": A, "jane/01_first/01_first.ipynb": B}


@pytest.mark.parametrize(
    ("mail", "status"),
    [
        (_mail("jane@u.edu"), "no notebook"), (b"", "no notebook"), (b"\0\xff" * 999, "no notebook"),
        (b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\nContent-Type: multipart/mixed; boundary=a\n\n" * 5000,
         None),
        (_mail("a@b", **{"..": A}), "no notebook"),
        (_mail("a@b", big__ipynb=b"\0" * 10), "no learner known"),
    ],
)  # fmt: skip
def test_a_hostile_mail_is_listed_and_its_neighbours_are_taken(
    mail: bytes, status: str | None, collecting: Collecting, course: Path
) -> None:
    collected = collecting({"m/x.eml": mail, "jane/x.ipynb": A})
    assert status is None or status in {line.status for line in collected.needs_person}
    assert (course / "submitted/jane/01_first/01_first.ipynb").read_bytes() == A
    assert [path.name for path in (course / "submitted").iterdir()] == ["jane"]


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_about_the_lessons_is_none(name: str) -> None:
    assert not LessonBook(ROOT).guess(ROOT / name).lesson
