"""Several files of one learner and lesson: which one counts, what is said of the others, and what a teacher reads of it all."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nbproof.errors import UsageError
from nbproof.gradebook.receipts import readable_time_in
from nbproof_lms import Collected, collect
from nbproof_lms.attendance import attend, late_by_lms, lines_of, people_of
from nbproof_lms.choosing import later
from nbproof_lms.outcome import FileRecord
from nbproof_lms.roster import Member, enrol
from tests import COURSE, main
from tests.lms.conftest import Collecting
from tests.lms.uploads import folder_of, notebook, zipped

A, B, C = (notebook("01_first", letter) for letter in "abc")
BLANK = notebook("01_first")
SCRIPT = b"\n".join(b"# " + line for line in A.splitlines())


def _endings(collected: Collected) -> dict[str, str]:
    return {line.name: line.status for line in collected.records}


def test_a_script_alone_is_taken_and_a_helper_lies_beside_its_notebook(collecting: Collecting, course: Path) -> None:
    collecting({"jane_1_2_x.py": SCRIPT, "bob_2_3_x.ipynb": B, "bob_2_4_helper.py": b"x = 1\n"})
    assert _taken(course) == SCRIPT
    assert (course / "submitted/bob/01_first/helper.py").read_bytes() == b"x = 1\n"


def _taken(course: Path, learner: str = "jane") -> bytes:
    return (course / f"submitted/{learner}/01_first/01_first.ipynb").read_bytes()


@pytest.fixture(autouse=True)
def class_(course: Path) -> None:
    enrol(course, [Member("jane", "Jane Doe", "", ("jane",)), Member("bob", "Bob Roe"), Member("eve"), Member("kim")])


OTHERS = {"bob_2_70_x.ipynb": A}


@pytest.mark.parametrize(
    "files",
    [
        {"jane_1_80_x.ipynb": A, "jane_LATE_1_90_y.ipynb": B, **OTHERS},
        {"1-8 - jane - Nov 3, 2026 1149 PM/x.ipynb": A, "1-9 - jane - Nov 4, 2026 100 AM/x.ipynb": B,
         "2-7 - bob - Nov 4, 2026 100 AM/x.ipynb": A},
        {"jane/01_first/.ipynb_checkpoints/x-checkpoint.ipynb": A, "jane/01_first/x.ipynb": B, "bob/x.ipynb": A},
        {"jane/01_first.py": b"# " + A, "jane/x.ipynb": B, "bob/x.ipynb": A},
        {"jane_1_90_x.ipynb": b"", "jane_1_80_x.ipynb": B, **OTHERS},
        {"jane_1_5_x.ipynb": B, "jane_1_6_x-1.ipynb": BLANK, **OTHERS},
    ],
)  # fmt: skip
def test_the_last_copy_counts(files: dict[str, bytes], collecting: Collecting, course: Path) -> None:
    collecting(files, lesson="01_first")
    assert _taken(course) == B


def test_times_on_a_disk_tell_the_order_and_date_nothing(course: Path, tmp_path: Path) -> None:
    upload = folder_of(tmp_path / "up", {"jane/b.ipynb": A, "jane/a.ipynb": B, "bob/x.ipynb": A})
    for name, day in (("b", 2), ("a", 1)):
        os.utime(upload / f"jane/{name}.ipynb", (datetime(2026, 11, day, tzinfo=UTC).timestamp(),) * 2)
    collect(COURSE, course, [upload])
    assert _taken(course) == A
    assert not (course / "submitted/jane/01_first/timestamp.txt").exists()


def test_where_nothing_tells_the_order_a_person_is_asked(collecting: Collecting, course: Path) -> None:
    files = {"jane/a.ipynb": A, "jane/b.ipynb": B, "jane/data.csv": b"1", "bob/x.ipynb": A, "eve/x.ipynb": A}
    collected = collecting(files)
    assert [(line.learner, line.status) for line in collected.needs_person] == [("jane", "waits")] * 3
    assert not (course / "submitted/jane").exists(), "nobody has decided yet"
    assert _taken(course, "bob") == A


OLDER = BLANK.replace(b"in one sentence", b"in two sentences")


@pytest.mark.parametrize("blank", [BLANK, OLDER], ids=["today's", "an older version"])
def test_an_untouched_copy_replaces_no_work_and_work_replaces_it(
    blank: bytes, collecting: Collecting, course: Path
) -> None:
    folder_of(course / ".course/handed_out/01_first", {"0.ipynb": OLDER})
    collecting({"jane_1_5_x.ipynb": A, "bob_2_9_x.ipynb": blank}, "one.zip")
    collecting({"jane_1_9_x-2.ipynb": blank, "bob_2_7_x.ipynb": B}, "two.zip")
    assert (_taken(course), _taken(course, "bob")) == (A, B)


def test_a_later_copy_that_cannot_be_read_is_asked_about(
    collecting: Collecting, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collected = collecting({"jane_1_5_x.ipynb": A, "jane_1_6_x-1.ipynb": b"{broken", **OTHERS}, lesson="01_first")
    assert _taken(course) == A
    (line,) = collected.needs_person
    assert (line.name, line.status) == ("jane_1_6_x-1.ipynb", "waits")
    assert main(["settle", "--course", str(course)]) == 0
    asked = "! another copy waits: jane Jane Doe: 01_first: it counts once you say so."
    assert asked in (told := capsys.readouterr().out) and "nothing waits" not in told
    collect(COURSE, course, [course / line.path_in_course], lesson="01_first", learners=["jane"])
    assert _taken(course) == b"{broken", "a person has named it"


STAMP = b"2026-01-01 10:00:00.000000 UTC"
IN_A_NAME = zipped({"1-2 - jane - Jan 1, 2026 1000 AM - x.ipynb": A})
UNDATED = [
    {"jane_LATE_1_5_hw.zip": zipped({"x.ipynb": A, "timestamp.txt": STAMP}), **OTHERS},
    {"jane/01_first/x.ipynb": A, "jane/01_first/Timestamp.TXT": STAMP, "bob/01_first/x.zip":
      zipped({"01_first.ipynb": B, "01_first/timestamp.txt": STAMP})},
    {"jane_LATE_1_6_hw 2026-01-01 10-00.ipynb": A, **OTHERS},
    {"jane/w.zip": IN_A_NAME, "bob/x.ipynb": B},
]  # fmt: skip


@pytest.mark.parametrize("upload", ["upload.zip", "folder"])
@pytest.mark.parametrize("files", UNDATED)
def test_a_time_that_a_learner_may_have_chosen_dates_nothing(
    files: dict[str, bytes], upload: str, collecting: Collecting, course: Path
) -> None:
    collected = collecting(files, upload)
    assert list((course / "submitted").rglob("*.ipynb")), "nothing was placed"
    assert not [path for path in (course / "submitted").rglob("*") if path.name.lower() == "timestamp.txt"]
    ignored = [line for line in collected.records if line.name.lower().endswith("timestamp.txt")]
    assert {line.status for line in ignored} <= {"junk"}


def _as_downloaded(path: Path, files: dict[str, bytes], days: list[int]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for (name, data), day in zip(files.items(), days, strict=True):
            archive.writestr(zipfile.ZipInfo(name, (2026, 11, day, 10, 0, 0)), data)
    return path


def test_times_in_a_zip_are_those_of_handing_in_where_an_lms_packed_it(course: Path, tmp_path: Path) -> None:
    collect(
        COURSE, course, [_as_downloaded(tmp_path / "up.zip", {"jane/01_first.ipynb": A, "bob/b/x.ipynb": B}, [1, 2])]
    )
    assert not list((course / "submitted").rglob("timestamp.txt")), "it may be the learner's own"
    moodle = {f"{name}_{at}_assignsubmission_file_/x.ipynb": A for at, name in enumerate(("Eve", "Kim"), 1)}
    collect(COURSE, course, [_as_downloaded(tmp_path / "moodle.zip", moodle, [1, 2])])
    assert (course / "submitted/kim/01_first/timestamp.txt").read_text().startswith("2026-11-02 10:00")


def test_what_is_handed_in_is_as_late_as_the_last_file_of_it(collecting: Collecting, course: Path) -> None:
    """A notebook may import its answers from a file that came later."""
    late = {"1-9 - Jane Doe - Nov 24, 2026 900 AM/answers.py": b"def double(x): return 2 * x"}
    others = {f"{at}-7 - {name} - Nov 1, 2026 900 AM/x.ipynb": A for at, name in enumerate(("Jane Doe", "Bob Roe"), 1)}
    collecting({**others, **late})
    dates = {path.parts[-3]: path.read_text()[:10] for path in course.glob("submitted/*/*/timestamp.txt")}
    assert dates == {"jane": "2026-11-24", "bob": "2026-11-01"}


def test_the_time_that_a_download_took_dates_nothing(course: Path, tmp_path: Path) -> None:
    """Moodle streams its zip, and gives each entry the time at which it comes to it."""
    moodle = {f"{name}_{at}_assignsubmission_file_/x.ipynb": A for at, name in enumerate(("Eve", "Kim"), 1)}
    assert not collect(COURSE, course, [_as_downloaded(tmp_path / "moodle.zip", moodle, [9, 9])]).needs_person
    assert not list((course / "submitted").rglob("timestamp.txt"))


def test_a_newer_upload_replaces_and_an_older_one_does_not(collecting: Collecting, course: Path) -> None:
    first = {"jane_1_5_01_first.ipynb": A, "jane_1_6_data.csv": b"1", **OTHERS}
    collecting(first, "one.zip")
    collected = collecting({"jane_1_7_01_first-1.ipynb": B, **OTHERS}, "two.zip")
    assert _taken(course) == B
    assert not (course / "submitted/jane/01_first/data.csv").exists()
    assert "replaces" in collected.records[1].why
    replaced = course / "collected/0002-two.zip/replaced/jane/01_first"
    assert {path.name: path.read_bytes() for path in replaced.iterdir()} == {"01_first.ipynb": A, "data.csv": b"1"}
    assert _endings(collecting(first, "one.zip"))["jane_1_5_01_first.ipynb"] == "earlier copy"
    assert _taken(course) == B


@pytest.mark.parametrize(("last", "day"), [([A], 3), ([BLANK, A], 3), ([B, A], 5), ([A, B], 5)])
def test_the_same_bytes_again_are_as_late_as_the_first_unless_another_copy_came_between(
    last: list[bytes], day: int, collecting: Collecting, course: Path
) -> None:
    hers = {f"1-90{at} - jane - Nov {at}, 2026 1000 AM/x.ipynb": data for at, data in enumerate([A, A, *last][-3:], 3)}
    collecting({**hers, "2-3 - bob - Nov 1, 2026 900 AM/x.ipynb": B})
    assert _taken(course) == last[-1]
    assert (course / "submitted/jane/01_first/timestamp.txt").read_text().startswith(f"2026-11-0{day}")


@pytest.mark.parametrize(("again", "wanted"), [(B, {"x.csv": b"new"}), (A, {"x.csv": b"new", "old.csv": b"old"})])
def test_of_two_attempts_the_data_of_the_later_one_goes_beside_its_notebook(
    again: bytes, wanted: dict[str, bytes], collecting: Collecting, course: Path
) -> None:
    first, second = (f"1-90{day} - jane - Nov {day}, 2026 1000 AM" for day in (3, 4))
    files = {f"{first}/x.ipynb": A, f"{first}/x.csv": b"old", f"{first}/old.csv": b"old"}
    files |= {f"{second}/x.ipynb": again, f"{second}/x.csv": b"new", "2-3 - bob - Nov 1, 2026 900 AM/x.ipynb": B}
    collecting(files)
    there = {path.name: path.read_bytes() for path in (course / "submitted/jane/01_first").glob("*.csv")}
    assert (there, _taken(course)) == (wanted, again)


def test_what_a_person_put_there_is_not_replaced_without_a_reason(collecting: Collecting, course: Path) -> None:
    mine = folder_of(course / "submitted/jane/01_first", {"01_first.ipynb": A})
    (mine / "timestamp.txt").write_text("2026-11-05 10:00:00 UTC")
    older, newer, other = (
        f"{at}-90{at} - {who} - Nov {day}, 2026 1000 AM - x.ipynb"
        for at, who, day in ((1, "jane", 4), (1, "jane", 6), (2, "bob", 6))
    )
    assert _endings(collecting({older: B, other: A}))[older] == "earlier copy"
    assert "replaces the copy of 2026-11-05 10:00" in collecting({newer: C, other: A}).records[1].why
    assert _taken(course) == C


TWO_LMSS = {
    "canvas.zip": {"jane_1_5_x.ipynb": A, "bob_2_6_x.ipynb": B},
    "moodle.zip": {"jane_7_assignsubmission_file_/x.ipynb": B, "eve_8_assignsubmission_file_/x.ipynb": B},
    "brightspace.zip": {"1-8 - jane - Nov 9, 2026 1100 AM/x.ipynb": C, "3-9 - kim - Nov 9, 2026 1000 AM/x.ipynb": C},
}
WORKSHEET = (
    "ID,Vollständiger Name,Anmeldename,Status,Bewertung\nTeilnehmer/in7,Jane Doe,jane,Zur Bewertung abgegeben,-\n"
    "Teilnehmer/in8,Eve Noe,eve,Zur Bewertung abgegeben - 2 Tage später,-\nTeilnehmer/in9,Kim Poe,kim,3 Tage überfällig,-\n"
)
DAYS = {"canvas.zip": [20, 20], "moodle.zip": [9, 12], "brightspace.zip": [9, 12]}


def _download(folder: Path, name: str) -> Path:
    return _as_downloaded(folder / name, TWO_LMSS[name], DAYS[name])


def _commands(out: str) -> dict[bytes, list[str]]:
    """By the copy that it makes count: each command that is printed for jane."""
    found = [shlex.split(line) for line in out.splitlines() if "--learner jane" in line]
    return {Path(words[words.index("collect") + 1]).read_bytes(): words[words.index("collect") :] for words in found}


@pytest.mark.parametrize("canvas_first", [True, False])
def test_the_time_of_a_download_decides_nothing_between_two_lmss(
    canvas_first: bool, course: Path, tmp_path: Path
) -> None:
    uploads = [_download(tmp_path, "canvas.zip"), _download(tmp_path, "moodle.zip")]
    first, second = uploads if canvas_first else uploads[::-1]
    assert not collect(COURSE, course, [first]).needs_person
    mine = _taken(course)
    collected = collect(COURSE, course, [second])
    assert [(line.learner, line.status) for line in collected.needs_person] == [("jane", "waits")]
    assert _taken(course) == mine, "nobody's copy is replaced before a person has decided"
    everybody = {(who, "01_first") for who in ("jane", "bob", "eve", "kim")}
    found = attend(course, people_of(course), everybody, ["01_first"])
    for choice, command in _commands("\n".join(lines_of(found, course))).items():
        assert main(command) == 0
        assert _taken(course) == choice
        assert attend(course, people_of(course), everybody, ["01_first"]).undecided == {}, "it is settled"


def test_two_lmss_that_say_when_are_compared_and_how_their_times_are_read_is_told(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("Moodle", "Brightspace"):
        assert main(["collect", str(_download(tmp_path, f"{name.lower()}.zip")), "--course", str(course)]) == 0
        assert f"{name}'s times have no zone, and are read as UTC" in capsys.readouterr().out
    assert _taken(course) == C, "handed in an hour later"


def test_an_upload_that_does_not_say_when_is_named_with_what_helps(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Moodle gives every file of a zip the time of the download. Its worksheet says who was late, in its language."""
    path, sheet = tmp_path / "moodle.zip", tmp_path / "worksheet.csv"
    path.write_bytes(zipped(TWO_LMSS["moodle.zip"]))
    assert main(["collect", str(path), "--course", str(course)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "--names" in out and "Download grading worksheet" in out
    sheet.write_text(WORKSHEET)
    assert main(["collect", str(path), "--course", str(course), "--names", str(sheet)]) == 0
    late = " ".join(capsys.readouterr().out.split())
    assert (
        "count as in time: eve/01_first (the LMS says: Zur Bewertung abgegeben - 2 Tage später), jane/01_first." in late
    )
    assert "'Status'" not in late and "überfällig" not in late
    assert (
        "says when these were handed in, so they count as in time: jane/01_first" in out and "have no zone" not in out
    )
    when = re.findall("such as ([0-9 :-]+ UTC)", out)[0]
    (course / "submitted" / "jane" / "01_first" / "timestamp.txt").write_text(when)
    assert readable_time_in(course / "submitted" / "jane" / "01_first" / "timestamp.txt", "UTC") is not None
    assert main(["collect", str(path), "--course", str(course)]) == 0
    assert "jane/01_first" not in capsys.readouterr().out.partition("count as in time: ")[2], "its time is there now"


def test_what_moodles_table_says_is_told_of_every_copy(course: Path, tmp_path: Path) -> None:
    """Of one that waits, replaces another, comes by a command or is put back, and whichever call has named the table."""
    sheet, word = tmp_path / "sheet.csv", "the LMS says: Zur Bewertung abgegeben - 2 Tage später"
    sheet.write_text(WORKSHEET)

    def told(who: str, path: Path, **said: Any) -> FileRecord:
        return next(one for one in collect(COURSE, course, [path], **said).records if one.learner == who)

    first, second, third = (tmp_path / f"{at}.zip" for at in (1, 2, 3))
    for path, hour, copies in ((first, 10, {"eve_8": A, "kim_9": A}), (second, 10, {"eve_8": C, "jane_7": A}),
                               (third, 11, {"kim_9": B, "jane_7": A})):  # fmt: skip
        files = {f"{whose}_assignsubmission_file_/x.ipynb": copy for whose, copy in copies.items()}
        path.write_bytes(zipped(files, time=datetime(2026, 11, 9, hour, tzinfo=UTC)))
    assert "LMS says" not in told("eve", first).why + told("eve", second).why, "nobody has named the table"
    waits = told("eve", second, names=sheet)
    assert waits.why.endswith(f"which stays; {word}")
    by_command = told("eve", course / waits.path_in_course, learners=["eve"])
    assert by_command.why == f"replaces the copy that was there; {word}"
    word = "the LMS says: 3 Tage überfällig"
    assert told("kim", third, names=sheet).why == f"replaces the copy that was there; {word}"
    assert told("kim", third).why == word, "it is there already"
    assert told("kim", first, names=sheet).status == "earlier copy"
    (before,) = course.glob("collected/*-3.zip/replaced/kim/01_first")
    assert word in told("kim", before, learners=["kim"]).why and _taken(course, "kim") == A


def test_of_two_lmss_at_once_neither_copy_counts_before_a_person_has_said_which(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uploads = [str(_download(tmp_path, name)) for name in ("canvas.zip", "moodle.zip")]
    assert main(["collect", *uploads, "--course", str(course)]) == 1
    assert not (course / "submitted/jane").exists()
    out = capsys.readouterr().out
    assert "Moodle's times have no zone, and are read as UTC: the last one is 2026-11-12 10:00 UTC" in out
    told = _commands(out)
    assert set(told) == {A, B}, "a command for each copy that waits"
    found = attend(course, people_of(course), {("bob", "01_first"), ("eve", "01_first")}, ["01_first"])
    assert "wait for you" in str(found.nothing_gradable[0])
    assert _commands("\n".join(lines_of(found, course))) == told, "and later runs ask again"
    assert main(told[A]) == 0
    assert _taken(course) == A
    assert not (course / "submitted/jane/01_first/timestamp.txt").exists()
    assert main(["collect", *uploads, "--course", str(course)]) == 0, "it is settled"
    assert "not chosen: a person chose" in " ".join(capsys.readouterr().out.split())
    assert main(told[B]) == 0, "until the person thinks better of it"
    assert _taken(course) == B
    stamp = (course / "submitted/jane/01_first/timestamp.txt").read_text()
    assert stamp.startswith("2026-11-09 10:00"), "Moodle said so"
    newer = {"jane_1_9_x.ipynb": C, "bob_2_6_x.ipynb": B}
    collected = collect(COURSE, course, [_as_downloaded(tmp_path / "later.zip", newer, [22, 22])])
    assert [line.name for line in collected.needs_person] == ["jane_1_9_x.ipynb"], "nobody has said anything of it"
    assert _taken(course) == B


@pytest.mark.parametrize("last", ["canvas.zip", "moodle.zip"])
def test_what_canvas_calls_late_stays_late_when_a_person_chooses_it(last: str, course: Path, tmp_path: Path) -> None:
    files = {"canvas.zip": {"jane_LATE_1_5_x.ipynb": A, "bob_2_6_x.ipynb": B}, "moodle.zip": TWO_LMSS["moodle.zip"]}
    for name in sorted(files, reverse=last == "canvas.zip"):
        collected = collect(COURSE, course, [_as_downloaded(tmp_path / name, files[name], [9, 12])])
    (waits,) = collected.needs_person
    assert waits.why.endswith("stays; late" if last == "canvas.zip" else "stays; handed in 2026-11-09 10:00 UTC")
    kept = next(path for path in (course / "collected").rglob("jane_LATE*"))
    assert not collect(COURSE, course, [kept], learners=["jane"], lesson="01_first").needs_person
    assert late_by_lms(course) == {("jane", "01_first")} and _taken(course) == A


def test_what_canvas_calls_late_stays_late_when_it_comes_by_mail_as_well(collecting: Collecting, course: Path) -> None:
    canvas, mails = {"jane_LATE_1_5_x.ipynb": A, "bob_2_6_x.ipynb": B}, {"jane/x.ipynb": A, "eve/x.ipynb": B}
    for at, files in enumerate((canvas, mails, {**canvas, "eve_3_4_x.ipynb": B})):
        collecting(files, f"{at}.zip")
        assert late_by_lms(course) == {("jane", "01_first")}
    collecting({"jane_1_5_x.ipynb": A, "bob_2_6_x.ipynb": B}, "excused.zip")
    assert not late_by_lms(course), "only Canvas takes it back"


@pytest.mark.parametrize(
    ("came", "late"),
    [
        (["jane_1_5_x", "jane_LATE_1_9_x-1"], False),
        (["jane_1_5_x", "jane_LATE_1_9_x-1", "jane_LATE_1_9_x-1"], False),
        (["jane_1_5_x", "jane_LATE_1_5_x"], True),
        (["jane_1_5_x", "jane_1_7_other", "jane_LATE_1_9_x-1"], True),
        (["jane_LATE_1_5_x", "jane_LATE_1_9_x-1"], True),
    ],
)
def test_the_same_bytes_came_when_they_came_first(
    came: list[str], late: bool, collecting: Collecting, course: Path
) -> None:
    """Unless Canvas calls that very attempt late by now, or others counted between."""
    for at, name in enumerate(came):
        collecting(
            {f"{name}.ipynb": C if "other" in name else A, "bob_2_6_x.ipynb": notebook("01_first", at)}, f"{at}.zip"
        )
    assert bool(late_by_lms(course)) is late and _taken(course) == A


def test_what_came_with_an_earlier_copy_is_nobodys_question(collecting: Collecting, course: Path) -> None:
    time, later_on = "Nov 3, 2026 1149 PM", "Nov 9, 2026 1149 PM"
    for at, when in enumerate((later_on, time)):
        entry, other = f"1-{9 - at} - jane - {when}", f"2-{7 - at} - bob - {when}"
        files = {f"{entry}/x.ipynb": B if at else A, f"{entry}/data.csv": b"1", f"{other}/x.ipynb": C}
        assert not collecting(files, f"{at}.zip").needs_person
    assert _taken(course) == A


@pytest.mark.parametrize("name", ["jane_LATE_1_500_5_700_x.ipynb", "jane_LATE_9_500_x.ipynb"])
def test_what_an_lms_says_stays_where_a_person_says_whose_it_is(
    name: str, collecting: Collecting, course: Path
) -> None:
    """She called her file so that nobody could tell."""
    enrol(course, [Member("eve", also=("7",)), Member("jane", also=("1",) if "_9_" in name else ())])
    (line,) = collecting({name: A, "bob_2_6_x.ipynb": B, "eve_7_4_x.ipynb": B}).needs_person
    assert not line.learner
    collect(COURSE, course, [course / line.path_in_course], learners=["jane"], lesson="01_first")
    assert late_by_lms(course) == {("jane", "01_first")}


def test_the_order_of_two_copies_is_the_same_from_both_sides() -> None:
    time = datetime(2026, 11, 1, tzinfo=UTC)
    told = ({}, {"time": time}, {"changed": 11.0}, {"number": 5}, {"number": 9, "changed": 50.0})
    lines = [FileRecord(**fields) for fields in told]
    copies = [replace(line, system=system) for line in lines for system in ("", "Canvas")]
    assert not [(one, other) for one in copies for other in copies if later(one, other) and later(other, one)]


def test_an_anonymous_download_of_canvas_is_listed_with_what_to_do(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Canvas's own ``content_zipper.rb`` names the files where graders are not to know whose they are."""
    (course / "roster.csv").unlink()
    files = {"anon_aB3x9_56789_Jane Doe.ipynb": A, "LATE_anon_12345_56790_01_first.ipynb": B}
    (course.parent / "up.zip").write_bytes(zipped(files))
    assert main(["collect", str(course.parent / "up.zip"), "--course", str(course)]) == 1
    assert not (course / "submitted").exists()
    assert capsys.readouterr().out.count("Canvas hides who handed it in") == 2


def test_what_was_taken_out_comes_back_with_a_word_and_what_was_removed_stays_out(
    collecting: Collecting, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each download holds all of the class: jane's folder is taken out, then her work is removed by command; eve's has data."""
    files = {"jane_1_80_x.ipynb": A, "jane_1_79_x.ipynb": C, "eve_3_9_x.ipynb": B, "eve_3_9_d.csv": b"1", **OTHERS}
    assert [line.why for line in collecting(files).records if line.status == "taken"] == ["", "", ""]
    shutil.rmtree(course / "submitted" / "jane")
    came = collecting({**files, "kim_4_1_x.ipynb": B}, "2.zip").records
    back = next(one for one in came if one.name == "jane_1_80_x.ipynb")
    assert (back.status, back.why.split(";")[0]) == ("taken", "it was taken out of submitted/ before")
    for words in (back.why.split("`")[1], "roster remove eve --lesson 01_first"):
        assert main([*shlex.split(words), "--yes", "--course", str(course)]) == 0
    collected = collecting({**files, "kim_4_2_x.ipynb": A}, "3.zip")
    ends = _endings(collected)
    assert {ends[name] for name in ("jane_1_80_x.ipynb", "jane_1_79_x.ipynb", "eve_3_9_x.ipynb")} == {"removed"}
    assert not collected.needs_person and not (course / "submitted/eve/01_first").exists()
    lists = sorted(course.glob("collected/*/list.json"))
    as_before = [path.read_bytes() for path in lists]
    with pytest.raises(UsageError, match=r"3\.zip came before, with files of bob, eve, kim") as told:
        collecting(files | {"kim_4_2_x.ipynb": A}, "3.zip", learners=["jane"])
    assert [path.read_bytes() for path in lists] == as_before
    assert "jane_1_80_x.ipynb --learner jane" in told.value.next_command
    assert main(shlex.split(told.value.next_command.partition(" -m course ")[2])) == 0
    assert _endings(collecting({**files, "kim_4_3_x.ipynb": C}, "4.zip"))["jane_1_80_x.ipynb"] == "already there"
    new = collecting({"jane_1_90_x.ipynb": BLANK + b" ", "eve_3_10_x.ipynb": C, **OTHERS}, "5.zip")
    assert _endings(new)["eve_3_10_x.ipynb"] == "taken", "other work counts"
