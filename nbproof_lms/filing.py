"""The road of an upload's files: what each is, whose, when it came and of which lesson; then which copy counts, and its data.

Each step takes the files and gives them with more told of each; whatever has a status has come to its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nbproof_lms.arrivals import Arrived, Item, Kind, is_junk
from nbproof_lms.contents import Guess, LessonBook
from nbproof_lms.members import Roster
from nbproof_lms.placing import Desk
from nbproof_lms.system import LmsEntry, systems
from nbproof_lms.whose import Upload, Whose, owners

__all__ = ["filed"]

_SCRIPT = re.compile(r"\.(?:py|html?|txt|json)$|^[^.]+$", re.IGNORECASE)
_FAR = timedelta(days=366)
_DOWNLOADING = timedelta(hours=1)


def filed(
    uploads: Sequence[Arrived], book: LessonBook, desk: Desk, roster: Roster | None, lesson: str, learner: str
) -> list[Item]:
    """Every file, with its owner, its time and its lesson. ``lesson``, ``learner``: as a person has said of all that came."""
    items: list[Item] = []
    for at, upload in enumerate(uploads):
        own = [_looked_at(replace(item, upload=at), book) for item in upload.items]
        counted = (item for item in own if item.safe and not is_junk(item.parts))
        found = owners(
            Upload(
                upload.name,
                [(item.parts, item.guess.lesson) for item in counted],
                tuple(book.lessons),
                tuple(systems().values()),
                {item.parts for item in own if item.archive},
                roster,
                desk.learners,
                desk.numbers,
                lesson,
            )
        )
        # An archive in which all is of one hour was packed then: Moodle since 2022 notes when each entry was downloaded.
        times = {item.time for item in own if item.time is not None}
        dated = bool(times) and max(times) - min(times) > _DOWNLOADING
        told = [_owned(item, found.get(item.parts, Whose()), learner, desk, dated) for item in own]
        desk.note(replace(item.line, lesson=lesson or item.guess.lesson) for item in told)
        items += told
    return [_of_lesson(item, lesson) if item.is_answer else item for item in items]


def _owned(item: Item, whose: Whose, learner: str, desk: Desk, dated: bool) -> Item:
    """A file with its owner, and when it was handed in, as far as its LMS says so; ``dated``: whether times of entries may."""
    if whose.made:
        return item.ended("junk")
    if item.line.status == "junk" or not item.safe:
        return item
    if learner:
        whose = Whose(learner, file=item.parts[-1])
    if why := desk.why_not(whose.learner, "") if whose.learner else "":
        whose = Whose(why=why, file=whose.file)
    entry = whose.entry or LmsEntry("")
    time = None if entry.unsure else entry.when
    if dated and whose.system and systems()[whose.system].dates_entries:
        time = item.time
    line = replace(
        item.line,
        learner=whose.learner,
        why=item.line.why or whose.why,
        time=time if time and time <= datetime.now(UTC) + _FAR else None,
        late=entry.late,
        number=entry.number,
        account=f"{whose.system}:{entry.account}" if entry.account else "",
        system=whose.system,
    )
    return replace(item, line=line, called=whose.file)


def _looked_at(item: Item, book: LessonBook) -> Item:
    """What kind of file it is, and of which lesson its content is."""
    name = item.parts[-1].casefold()
    # When something was handed in says an LMS, and no timestamp.txt. The files of an archive are listed by themselves.
    if is_junk(item.parts) or (item.problem is None and (item.archive or name.endswith("timestamp.txt"))):
        return item.ended("junk")
    if item.problem is not None:
        return item.ended(item.problem.status, item.problem.why)
    if ".ipynb" not in name and not _SCRIPT.search(re.sub(r" ?\(\d+\)$", "", name)):
        return replace(item, kind=Kind.DATA)
    guess = book.guess(item.path)
    return replace(item, guess=guess, kind=_kind(item.parts, name, guess))


def _kind(parts: Sequence[str], name: str, guess: Guess) -> Kind:
    if ".ipynb_checkpoints" in parts or name.endswith("-checkpoint.ipynb"):
        return Kind.CHECKPOINT
    if ".ipynb" in name or (guess.notebook and guess.lesson):
        return Kind.NOTEBOOK
    return Kind.SCRIPT if guess.lesson else Kind.DATA


def _of_lesson(item: Item, asked: str) -> Item:
    """The lesson that a notebook counts for, or why it counts for none."""
    holds, also = item.guess.lesson, item.guess.others
    if not item.line.learner:
        return item.ended("no learner known", item.line.why, lesson=holds)
    if holds and asked and holds != asked:
        return item.ended("no lesson known", f"it holds {holds}, handed in for {asked}")
    lesson = asked or holds
    if holds or (lesson and item.kind is Kind.NOTEBOOK):
        return replace(item, line=replace(item.line, lesson=lesson))
    several = f"it holds parts of {' and '.join(also)}" if also else "its content is of no lesson"
    return item.ended("no lesson known", f"{several}; --lesson LESSON hands it in all the same")
