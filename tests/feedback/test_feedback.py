"""Pages of a class: written if something changed, whole or not at all, and never the reason for a failed run.

Whatever a learner's code says can be shown: bounded, visible, without a word on the grading machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from multiprocessing import Pipe
from pathlib import Path
from threading import Thread

import bs4
import pytest
import torch
from nbgrader.apps import NbGraderAPI

from nbproof.authoring.secret_lines import Secrets, read_secrets, text_of_page
from nbproof.authoring.simulate import as_handed_in
from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import UsageError
from nbproof.feedback import page as feedback_page_module
from nbproof.feedback.own_code import harmless
from nbproof.feedback.page import Addressee, feedback_page
from nbproof.feedback.page_writer import Task, page_path, serve, write_pages
from nbproof.feedback.pages import Feedback, chosen_submissions, write_feedback
from nbproof.gradebook.marks import Mark
from nbproof.key import Key
from nbproof.marking.blueprint import read_blueprint
from nbproof.places import course_config
from nbproof.sandbox.engine import Engine
from nbproof.testing import Bench, Rehearsal
from nbproof.testing.small import LESSON, RIGHT
from tests import COURSE, SLUGS, main, some_by_day, the_lesson
from tests.feedback.page_rules import what_runs
from tests.warm import limited, shared_pool

ROOT = Path(__file__).parent.parent.parent
WRONG = "def first(x):\n    print('so far')\n    return x.tolist() and x"


@pytest.fixture(scope="module")
def graded(small_lesson: Path, tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Path:
    """A graded class of three: ada is right, ben has one exercise wrong and one not answered, mal is hostile."""
    room = Rehearsal.of(small_lesson, tmp_path_factory.mktemp("graded"), pool=shared_pool(engine))
    hostile = "print('<script>alert(1)</script>')\nraise ValueError('<img src=x onerror=alert(1)>')"
    room.hand_in_all(
        {"ada": RIGHT, "ben": {**RIGHT, "first": WRONG, "second": ""}, "mal <b>": {**RIGHT, "first": hostile}}
    )
    # Nothing here is about limits: a busy machine must not make one matter.
    with limited(engine, exercise_seconds=60.0, submission_seconds=180.0):
        assert {one.problem for one in room.grade(seed=3).marks.values()} == {""}
    return room.root


@pytest.fixture
def copied(graded: Path, tmp_path: Path) -> Path:
    """A copy of the graded class for one test."""
    return Path(shutil.copytree(graded, tmp_path / "copied"))


def _write(root: Path, **options: object) -> Feedback:
    return write_feedback(COURSE, root, chosen_submissions(root), **options)  # type: ignore[arg-type]


def _words(root: Path, learner: str) -> str:
    page = page_path(root, learner, LESSON).read_text(encoding="utf-8")
    return " ".join(bs4.BeautifulSoup(page, "html.parser").get_text(" ").split())


def test_a_page_for_each_and_only_where_something_changed(copied: Path) -> None:
    told = _write(copied)
    assert [learner for learner, _ in told.written] == ["ada", "ben", "mal <b>"]
    assert told.failed == ()
    assert "4 of 4 points" in _words(copied, "ada")
    assert "1 of 4 points" in _words(copied, "ben")
    assert "so far" in _words(copied, "ben")
    assert "Not answered" in _words(copied, "ben")
    for learner in ("ada", "ben", "mal <b>"):
        assert what_runs(page_path(copied, learner, LESSON).read_text()) == []
        others = {"ada", "ben", "mal <b>"} - {learner}
        assert not [other for other in others if other in _words(copied, learner)]
    before = {path: path.stat().st_mtime_ns for path in copied.glob("feedback/*/*/*")}
    assert _write(copied) == Feedback((), 3, ())
    with Rehearsal(copied, LESSON).gradebook() as book:
        grade = book.find_grade("test_first", LESSON, LESSON, "ben")
        grade.manual_score = 1.5
        book.find_comment("second", LESSON, LESSON, "ben").manual_comment = "Try it."
        book.db.commit()
    assert _write(copied).written == (("ben", LESSON),)
    assert "2.5 of 4 points" in _words(copied, "ben")
    assert "Your instructor says Try it." in _words(copied, "ben")
    changed = {path for path, stamp in before.items() if path.stat().st_mtime_ns != stamp}
    assert changed == {page_path(copied, "ben", LESSON)}
    assert len(_write(copied, force=True).written) == 3
    assert not list(copied.glob("feedback/**/*.new"))


def test_nbgraders_own_command_and_formgraders_button_write_the_same_page(copied: Path) -> None:
    _write(copied)
    pages = {learner: page_path(copied, learner, LESSON) for learner in ("ada", "ben")}
    ours = {learner: path.read_text() for learner, path in pages.items()}
    outcome = NbGraderAPI(config=course_config(copied)).generate_feedback(LESSON, force=True)
    assert outcome["success"], outcome
    assert {learner: path.read_text() for learner, path in pages.items()} == ours
    beside = {path.name for path in pages["ada"].parent.iterdir()}
    # What `nbgrader release_feedback` wants; not the record of the verdict.
    assert beside == {f"{LESSON}.html", "timestamp.txt", "submission_secret.txt"}
    assert _write(copied).unchanged == 3


def test_without_a_record_of_the_engine_no_page_is_written_and_the_next_command_said(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where nbgrader has graded by itself: its notebook holds the hidden tests, and nothing of it is shown."""
    (copied / "autograded" / "ben" / LESSON / ".verdict.json").unlink()
    assert main(["feedback", "--course", str(copied)]) == 1
    told = capsys.readouterr().out
    assert f"! not written: feedback/ben/{LESSON}: there is no record of how the engine graded this; next: " in told
    assert f"-m course grade {LESSON} --course {copied}\n" in told
    assert "please report" not in told
    assert not page_path(copied, "ben", LESSON).exists()
    assert page_path(copied, "ada", LESSON).exists()


def test_a_next_step_is_made_where_the_user_stands_not_where_a_page_is_written(copied: Path) -> None:
    (copied / "autograded" / "ben" / LESSON / ".verdict.json").unlink()
    near, far = Pipe()

    def elsewhere() -> None:
        far.recv()
        far.send("next: some/where/python -m course grade")

    writer = Thread(target=elsewhere)
    writer.start()
    (page,) = write_pages(COURSE, copied, [Task(Key("ben", LESSON), "")], [near])
    writer.join()
    assert page[1].endswith(f"next: {course_command(f'grade {LESSON}', copied)}")


def test_one_page_that_cannot_be_written_stops_no_other(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copied / "feedback" / "ada").mkdir(parents=True)
    (copied / "feedback" / "ada" / LESSON).write_text("a file where a folder should be")
    made = feedback_page_module.page_of

    def page_of(course: Course, root: Path, task: Task) -> str:
        if task.key.learner == "ben":
            raise RuntimeError("a flaw")
        return made(course, root, task)

    monkeypatch.setattr(feedback_page_module, "page_of", page_of)
    told = _write(copied)
    assert told.written == (("mal <b>", LESSON),)
    assert [learner for learner, _, _ in told.failed] == ["ada", "ben"]
    assert "directory" in told.failed[0][2] or "exists" in told.failed[0][2]
    assert "a flaw" in told.failed[1][2]
    assert main(["feedback", "--course", str(copied)]) == 1


def test_what_could_not_be_graded_has_a_page_with_the_reason(copied: Path) -> None:
    told = _write(copied, problems={Key("zoe", LESSON): "it is not a notebook", Key("ada", LESSON): "it is empty"})
    assert len(told.written) == 4
    assert "it is not a notebook" in _words(copied, "zoe")
    assert "it is empty" in _words(copied, "ada"), "what counts is what was handed in last"


def test_the_command(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["feedback", "--course", str(copied), "ben", "--lesson", LESSON]) == 0
    assert "wrote 1 page, 0 unchanged" in capsys.readouterr().out
    assert not page_path(copied, "ada", LESSON).exists()
    assert main(["feedback", "--course", str(copied), "bem"]) == 2
    assert "'bem' is no learner's id" in capsys.readouterr().err
    assert main(["feedback", "--course", str(copied), "ben", LESSON]) == 2
    assert f"run the same command again with --lesson {LESSON} in its place" in capsys.readouterr().err
    assert main(["feedback", "--course", str(copied), "--lesson", "nothing"]) == 2
    shutil.rmtree(copied / "autograded")
    with pytest.raises(UsageError, match="nothing has been graded yet"):
        chosen_submissions(copied)


@pytest.fixture(scope="module")
def secrets() -> Secrets:
    """Of all lessons, candidates included."""
    return read_secrets(COURSE, ROOT)


def _with_line(page: str, line: str) -> str:
    return page.replace("</footer>", f"<p>{line.replace('<', '&lt;')}</p></footer>")


@pytest.mark.slow
@pytest.mark.parametrize("slug", some_by_day(SLUGS, 6))
def test_no_page_of_any_lesson_holds_a_line_that_learners_must_not_see(
    slug: str, engine: Engine, secrets: Secrets
) -> None:
    """A learner who got everything wrong, and one who wrote nothing. benchmarks/feedback.py asks a whole class."""
    lesson = the_lesson(slug)
    blueprint = read_blueprint(COURSE, ROOT / "source" / lesson.slug / f"{lesson.slug}.ipynb", course_config(ROOT))
    pictures = 0
    for number in (1, None):
        answers = dict(blueprint.stubs)
        for exercise in lesson.exercises if number is not None else ():
            mutants = [one for one in exercise.candidates if one.role == "mutant"]
            answers[exercise.id] = as_handed_in(mutants[number % len(mutants)])
        with limited(engine):
            verdict = Bench(engine, blueprint).mark(answers, seed=5)
        page, own = (
            feedback_page(Addressee(COURSE, verdict, Mark(verdict), Secrets([])), "digest", 0.0),
            "\n".join(answers.values()),
        )
        assert secrets.found_in(text_of_page(page), own) == []
        assert what_runs(page) == []
        assert len(page) < 400_000
        pictures += page.count("<img ")
        # The same search finds a line that stands in the page: it looks at what it should.
        private = [line for line, origin in secrets.origins.items() if lesson.slug in origin and line not in own]
        assert any(secrets.found_in(text_of_page(_with_line(page, line)), own) == [line] for line in private)
    assert pictures, "wrong answers are shown beside what was wanted"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext ✓ é 漢字 👩‍💻", "plain\n\ttext ✓ é 漢字 👩‍💻"),
        ("\x1b[31mred\x1b[0m \x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\", "red link"),
        ("user\u202egnp.exe\u202c", "user‹U+202E›gnp.exe‹U+202C›"),
        ("a\u200bb\ufeffc\U000e0041", "a‹U+200B›b‹U+FEFF›c‹U+E0041›"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("SyntaxError: invalid (<ipython-input-9-08bde0d2c95d>, line 1)", "SyntaxError: invalid (your cell, line 1)"),
    ],
)  # fmt: skip
def test_what_is_shown(text: str, shown: str) -> None:
    assert harmless(COURSE, text) == shown


def test_no_folder_of_the_machine_is_named() -> None:
    places = [torch.__file__, os.__file__, "/opt/x/lib/python3.12/site-packages/a.py", os.path.expanduser("~/x")]
    shown = harmless(COURSE, "\n".join(f'File "{place}", line 3' for place in places))
    for folder in (
        sys.prefix,
        sys.base_prefix,
        os.path.dirname(os.path.dirname(torch.__file__)),
        os.getcwd(),
        "/opt/x",
    ):
        assert folder not in shown
    assert "site-packages/torch/__init__.py" in shown


@pytest.mark.parametrize(
    "text", ["/a" * 250_000, "\x1b]" * 250_000, "\u0301" * 500_000, "<ipython-input-" * 40_000], ids=range(4)
)
def test_no_text_takes_long(text: str) -> None:
    harmless(COURSE, "warm")
    start = time.process_time()
    harmless(COURSE, text, 12_000)
    assert time.process_time() - start < 0.5


TASKS = [Task(Key(name, LESSON), "digest", problem="it cannot be read") for name in ("ada", "ben", "eve")]


def test_a_writer_writes_until_its_line_is_cut(tmp_path: Path) -> None:
    ours, theirs = Pipe()
    writer = threading.Thread(target=serve, args=(theirs, COURSE))
    writer.start()
    told = [(task.key.learner, reason) for task, reason in write_pages(COURSE, tmp_path, TASKS, [ours])]
    assert told == [("ada", ""), ("ben", ""), ("eve", "")]
    assert all("it cannot be read" in page_path(tmp_path, name, LESSON).read_text() for name, _ in told)
    ours.close()
    writer.join(10)
    assert not writer.is_alive()


def test_a_page_that_ends_its_writer_is_told_apart_from_those_that_wait(tmp_path: Path) -> None:
    ours, theirs = Pipe()
    threading.Thread(target=lambda: (theirs.recv(), theirs.close())).start()
    told = {task.key.learner: reason for task, reason in write_pages(COURSE, tmp_path, TASKS, [ours])}
    assert "ended from outside" in told.pop("ada")
    assert told == {"ben": "", "eve": ""}, "written by this process"


@pytest.mark.slow
def test_what_grades_imports_nothing_that_draws(room: Rehearsal) -> None:
    room.hand_in("ben", {**RIGHT, "first": "def first(x):\n    return x"})
    program = (
        "import sys; from course.__main__ import run; code = run(); "
        "print('imported:', sorted({'torch', 'matplotlib'} & set(sys.modules))); sys.exit(code)"
    )
    words = ["grade", "--course", str(room.root), "--seed", "3"]
    shutil.rmtree(room.root / "feedback", ignore_errors=True)
    ran = subprocess.run([sys.executable, "-c", program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "imported: []" in ran.stdout, ran.stdout + ran.stderr
    page = page_path(room.root, "ben", LESSON).read_text()
    assert "data:image/png" in page
