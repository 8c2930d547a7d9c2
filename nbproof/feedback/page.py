"""One learner's pages: of one lesson, and of all of them. Whole, self-contained HTML; no script, nothing from elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from nbproof.authoring.secret_lines import Secrets, read_secrets
from nbproof.command import course_command
from nbproof.course_file import the_course
from nbproof.display.outline import exercise_named, outline, title_of
from nbproof.errors import UsageError
from nbproof.feedback.exercise_feedback import cards_of
from nbproof.feedback.own_code import coloured, harmless
from nbproof.gradebook.marks import Mark
from nbproof.marking.results import SubmissionVerdict
from nbproof.run.journal import journal_of, journalled_verdict
from nbproof.text import code_parts, counted, in_utc

if TYPE_CHECKING:
    from nbproof.feedback.handed_back import Earlier
    from nbproof.feedback.page_task import Task

__all__ = [
    "Row",
    "digest_in",
    "feedback_page",
    "made_of",
    "overview_page",
    "page_of",
    "refusal_page",
    "row_of",
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
    found.filters.update(
        prose=_prose, points=lambda number: f"{number:.4g}", share=_share, coloured=coloured,
        typed=lambda text: harmless(text, 12_000),
    )  # fmt: skip
    found.globals["css"] = Markup((_FOLDER / "page.css").read_text(encoding="utf-8"))  # noqa: S704 ours
    return found


def _prose(text: str) -> Markup:
    """Escaped text in which `backticks` mark code."""
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(code_parts(text))
    )


def _share(score: float, most: float) -> str:
    return f"{min(100.0, max(0.0, 100 * score / most)) if most else 0.0:.1f}"


@cache
def made_of() -> str:
    """Changes whenever anything does that ends up in a page."""
    seen = hashlib.sha256()
    here = Path(__file__).parent
    hints = [the_course().folder / "hints.json"]
    paths = [*here.glob("*.py"), *_FOLDER.glob("*"), *hints, the_course().folder / "outline.json"]
    for path in sorted(paths):
        if path.is_file():
            seen.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return seen.hexdigest()


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
        return refusal_page(task.learner, task.lesson, task.problem, task.digest)
    verdict = journalled_verdict(root, task.learner, task.lesson)
    journal = journal_of(root, task.learner, task.lesson)
    if verdict is None:
        raise UsageError(
            "there is no record of how the engine graded this",
            str(journal),
            course_command(f"grade {task.lesson}"),
        )
    graded = journal.stat().st_mtime
    return feedback_page(verdict, task.marks, _secrets(str(root), task.lesson), task.digest, graded, task.earlier)


@lru_cache(maxsize=32)
def _secrets(root: str, lesson: str) -> Secrets:
    # Other people's answers and known mistakes are no secret of the grader's: what is to be kept out of a page is
    # what its own process has seen.
    return read_secrets(Path(root), [lesson], candidates=False)


def feedback_page(
    verdict: SubmissionVerdict, marks: Mark | None, secrets: Secrets, digest: str, graded: float | None = None,
    earlier: Earlier | None = None,
) -> str:  # fmt: skip
    """The page of one submission. ``graded``: when, in seconds since 1970. ``earlier``: what was marked again since."""
    cards = cards_of(verdict, marks, secrets, earlier)
    penalty = marks.penalty if marks else 0.0
    score = max(0.0, sum(card.score for card in cards) - penalty)
    tested = [card for card in cards if card.code]
    solved = sum(card.score >= card.max_score for card in tested)
    return _render(
        "feedback.html.j2", digest, lesson=harmless(verdict.lesson, 200), learner=harmless(verdict.learner, 200),
        title=title_of(verdict.lesson), problem="", cards=cards, score=score,
        most=sum(card.max_score for card in cards), waits=sum(card.max_score for card in cards if card.waits), solved=solved,
        tasks=len(tested), damage=harmless(getattr(verdict, "damage", ""), 500), when=_when(marks), seed=verdict.seed,
        graded=_moment(graded), helps=any(exercise_named(one.id) for one in verdict.exercises),
        goal="Everything is right." if cards and all(card.score >= card.max_score for card in cards) else "",
    )  # fmt: skip


def refusal_page(learner: str, lesson: str, problem: str, digest: str) -> str:
    """The page of what could not be graded, with the reason."""
    return _render(
        "feedback.html.j2", digest, lesson=harmless(lesson, 200), learner=harmless(learner, 200), title=title_of(lesson),
        problem=harmless(problem, 1_000), cards=(), graded="", seed=0, helps=any(one.slug == lesson for one in outline()),
    )  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One lesson of a learner's overview."""

    lesson: str
    title: str
    href: str
    kind: str
    score: float
    most: float
    waits: float
    told: str


def row_of(lesson: str, marks: Mark | None) -> Row:
    """The overview's row of one lesson; without marks if the submission could not be graded."""
    href = f"{quote(lesson)}/{quote(lesson)}.html"
    if marks is None:
        return Row(lesson, title_of(lesson), href, "wrong", 0.0, 0.0, 0.0, "It could not be graded: the page says why.")
    waits = sum(cell.max_score for cell in marks.cells.values() if cell.waits)
    told = []
    if waits:
        told.append(f"{waits:g} {'point is' if waits == 1 else 'points are'} still to be given by a person.")
    if marks.penalty:
        told.append(f"Handed in {_lateness(marks)}")
    if marks.comments:
        told.append("With comments of your instructor.")
    kind = "passed" if marks.score >= marks.max_score else "partly" if marks.score else "open"
    return Row(lesson, title_of(lesson), href, kind, marks.score, marks.max_score, waits, " ".join(told))


def overview_page(learner: str, rows: Sequence[Row]) -> str:
    """The page of one learner, over all lessons that have a page."""
    return _render(
        "overview.html.j2", "", learner=harmless(learner, 200), rows=rows, score=sum(row.score for row in rows),
        most=sum(row.most for row in rows), waits=sum(row.waits for row in rows),
    )  # fmt: skip


def _render(template: str, digest: str, **values: Any) -> str:
    return _templates().get_template(template).render(digest=digest, **values)


def _when(marks: Mark | None) -> str:
    """When it was handed in, when it was due, how late that was, and what it costs; as far as that is known."""
    if marks is None:
        return ""
    due = (
        f"due {in_utc(marks.late.due)}{', with your extension' if marks.late.extended else ''}"
        if marks.late.due
        else ""
    )
    came = f"handed in {in_utc(marks.late.handed_in)}" if marks.late.handed_in else ""
    told = ", ".join(part for part in (came, due) if part)
    dates = f"{told[0].upper()}{told[1:]}." if told else ""
    if marks.late.seconds <= 0 and not marks.penalty:
        return dates
    return f"{dates} That is {_lateness(marks)}" if came and due else f"{dates} Handed in {_lateness(marks)}".strip()


def _lateness(marks: Mark) -> str:
    """How late it was, and what that costs."""
    # Who was late only by an LMS's word has a second of lateness, and no time of handing in.
    late = "late" if marks.late.handed_in is None and marks.late.seconds <= 1 else _late(marks.late.seconds)
    if not marks.penalty:
        return f"{late}; no points are taken off for that."
    return f"{late}: {marks.penalty:.4g} point{'' if marks.penalty == 1 else 's'} taken off."


def _late(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{counted(count, name)} late"
    return "less than a minute late"


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return ""
    when = datetime.fromtimestamp(seconds, UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"
