"""One learner's pages: of one lesson, and of all of them. Whole, self-contained HTML; no script, nothing from elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nbproof.authoring.secret_lines import Secrets, read_secrets
from nbproof.cells import ITS_TESTS
from nbproof.command import course_command
from nbproof.course_file import the_course
from nbproof.display.outline import exercise_named, outline, title_of
from nbproof.display.words import words
from nbproof.errors import UsageError
from nbproof.feedback.exercise_feedback import Addressee, ExerciseCard, cards_of, drawn
from nbproof.feedback.own_code import LARGEST_PICTURE, coloured, harmless, visible
from nbproof.feedback.page_writer import Task
from nbproof.files import digest_of
from nbproof.front_end import prose
from nbproof.gradebook.marks import Mark
from nbproof.gradebook.typeset import Typesetter
from nbproof.handed_out import hint_files
from nbproof.run.journal import journal_of, journalled_verdict
from nbproof.text import duration, in_utc

__all__ = [
    "digest_in",
    "feedback_page",
    "made_of",
    "page_of",
    "refusal_page",
]

_FOLDER = Path(__file__).parent / "templates"
_STAMP = '<meta name="course-feedback" content="'


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "prose": _prose,
        "points": "{:.4g}".format,
        "share": _share,
        "coloured": coloured,
    }
    found.globals["css"] = Markup((_FOLDER / "page.css").read_text(encoding="utf-8"))  # noqa: S704 ours
    found.globals |= {"drawn": drawn, "unsaid": ITS_TESTS}
    return found


def _prose(text: str) -> Markup:
    return Markup(prose(text))  # noqa: S704 escaped there


def _share(score: float, most: float) -> str:
    return f"{min(100.0, max(0.0, 100 * score / most)) if most else 0.0:.1f}"


@cache
def made_of() -> str:
    """Changes whenever anything does that ends up in a page."""
    here = Path(__file__).parent
    others = [here.parent / "display" / "words.py", here.parent / "gradebook" / "typeset.py"]
    files = sorted([*here.glob("*.py"), *_FOLDER.glob("*.*"), *hint_files(the_course().texts), *others])
    return digest_of(repr((outline(), words().texts)).encode(), *(path.read_bytes() for path in files))


def digest_in(path: Path) -> str:
    """What the page there was made from; empty if there is none, or none of ours."""
    try:
        with path.open("rb") as file:
            head = file.read(600).decode("utf-8", "replace")
    except OSError:
        return ""
    return head.partition(_STAMP)[2].partition('"')[0] if _STAMP in head else ""


def page_of(root: Path, task: Task) -> str:
    """The page of a task. Raises UsageError if there is no record of how it was graded."""
    if task.problem:
        return refusal_page(*task.key, task.problem, task.digest)
    verdict = journalled_verdict(root, *task.key)
    journal = journal_of(root, *task.key)
    if verdict is None:
        raise UsageError(
            "there is no record of how the engine graded this",
            str(journal),
            course_command(f"grade {task.key.lesson}"),
        )
    learner = Addressee(verdict, task.marks or Mark(verdict), _secrets(str(root), task.key.lesson))
    return feedback_page(learner, task.digest, journal.stat().st_mtime)


@lru_cache(maxsize=32)
def _secrets(root: str, lesson: str) -> Secrets:
    # Other people's answers and known mistakes are no secret of the grader's: what is to be kept out of a page is
    # what its own process has seen.
    return read_secrets(Path(root), [lesson], candidates=False)


def feedback_page(learner: Addressee, digest: str, graded: float) -> str:
    """The page of one submission. ``graded``: when, in seconds since 1970."""
    verdict, marks, cards = learner.verdict, learner.marks, cards_of(learner)
    setter = Typesetter({name: png for name, png in verdict.pictures.items() if len(png) <= LARGEST_PICTURE})
    tested = [card for card in cards if isinstance(card, ExerciseCard)]
    right = [card for card in cards if card.score >= card.max_score]
    return _render(
        verdict.lesson,
        verdict.learner,
        digest,
        cards=cards,
        clean=learner.clean,
        typeset=lambda text: Markup(setter.typeset(visible(text))),  # noqa: S704 nothing in it does anything
        say=words(),
        score=max(0.0, sum(card.score for card in cards) - marks.penalty),
        most=sum(card.max_score for card in cards),
        waits=sum(card.max_score for card in cards if card.waits),
        solved=sum(card in right for card in tested),
        tasks=len(tested),
        damage=harmless(verdict.damage, 500),
        when=_when(marks),
        seed=verdict.seed,
        graded=in_utc(datetime.fromtimestamp(graded, UTC)),
        helps=any(exercise_named(one.id) for one in verdict.exercises),
        goal="Everything is right." if cards and right == cards else "",
    )


def refusal_page(learner: str, lesson: str, problem: str, digest: str) -> str:
    """The page of what could not be graded, with the reason."""
    helps = any(one.slug == lesson for one in outline())
    return _render(lesson, learner, digest, problem=harmless(problem, 1_000), cards=(), graded="", helps=helps)


def _render(lesson: str, learner: str, digest: str, *, problem: str = "", **values: Any) -> str:
    template = _templates().get_template("feedback.html.j2")
    return template.render(
        lesson=harmless(lesson, 200),
        learner=harmless(learner, 200),
        title=title_of(lesson),
        digest=digest,
        problem=problem,
        **values,
    )


def _when(marks: Mark) -> str:
    """When it was handed in and when it was due, and what being late costs; as far as that is known."""
    late, penalty = marks.late, marks.penalty
    told = [f"Handed in {in_utc(late.handed_in)}."] if late.handed_in else []
    if late.due:
        told.append(f"Due {in_utc(late.due)}{', with your extension' if late.extended else ''}.")
    if late.seconds > 0 or penalty:
        # Who was late only by an LMS's word has a second of lateness, and no time of handing in.
        by_word = late.handed_in is None and late.seconds <= 1
        how = "Late" if by_word else f"Late by {duration(late.seconds)}"
        cost = f"points taken off: {penalty:.4g}" if penalty else "no points are taken off"
        told.append(f"{how}; {cost}.")
    return " ".join(told)
