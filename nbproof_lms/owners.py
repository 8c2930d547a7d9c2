"""Whose is each file: from what names say, the roster, and who handed in before. What is not clear is listed, never guessed."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from nbproof_lms.layouts import is_nobody
from nbproof_lms.lms_names import Said
from nbproof_lms.members import Roster
from nbproof_lms.names import bare, plain, why_no_learner

__all__ = ["HIDDEN", "Owner", "owners"]

_SAY = "Say so with --names or --pattern"
HIDDEN = "Canvas hides whose it is (anonymous grading)"


@dataclass(frozen=True)
class Owner:
    """The learner of a file; without one, ``why`` says why, and ``several`` whether there are too many."""

    learner: str = ""
    why: str = ""
    several: bool = False


def owners(
    said: Sequence[Said],
    holds: Sequence[str | None],
    roster: Roster | None,
    known: Sequence[str],
    accounts: Mapping[str, str],
    fallback: str = "",
) -> list[Owner]:
    """The owner of each file of an upload.

    ``holds``: the lesson that a notebook's content is of, None for other files. ``known``: learners who handed in
    before. ``accounts``: Canvas's numbers of them. ``fallback``: the upload's own name, which counts only if it is
    that of a learner who is known.
    """
    named = [_by_roster(one, roster, fallback) if roster is not None else Owner() for one in said]
    if roster is None or not roster.strict:
        known = [*known, *(roster.learners if roster is not None else ())]
        free = _Free(_confirmed(said, holds, known), holds, known, accounts)
        named = [
            free.agreed(one, owner, roster) if owner.learner or owner.several else free.owner(one, fallback)
            for one, owner in zip(free.said, named, strict=True)
        ]
    around = _Around(roster, known, fallback)
    return [around.owner(one, owner) for one, owner in zip(said, named, strict=True)]


class _Around:
    """What is called like a learner, and lies around all of it: then that learner may have packed it."""

    def __init__(self, roster: Roster | None, known: Sequence[str], fallback: str) -> None:
        self._roster, self._fallback = roster, fallback
        self._known = {plain(name): name for name in known}

    def owner(self, said: Said, owner: Owner) -> Owner:
        """The owner whom names within said, if nobody else may have chosen these names."""
        if not owner.learner or not (said.around or said.system):
            return owner
        others = self._who(said.around, maybe=True) or self._who(self._fallback, maybe=False)
        if not others or owner.learner in others:
            return owner
        called = said.around or self._fallback
        return Owner(
            why=f"names within say {owner.learner!r}, what is around them {called!r}: if that is nobody, collect what is in it",
            several=True,
        )

    def _who(self, name: str, maybe: bool) -> frozenset[str]:
        """The learners that this may name; ``maybe``: also one of whom nobody has heard yet."""
        found = self._roster.who(name) if self._roster is not None else frozenset()
        if not found and plain(name) in self._known:
            found = frozenset({self._known[plain(name)]})
        new = maybe and name and (self._roster is None or not self._roster.strict)
        return found or (frozenset({name}) if new else frozenset())


def _confirmed(said: Sequence[Said], holds: Sequence[str | None], known: Sequence[str]) -> list[Said]:
    """Without the names that a file or an archive bears alone, unless several beside each other hold one lesson each.

    ``jane.ipynb`` and ``bob.ipynb`` are of two learners; ``analysis.ipynb`` says nothing.
    """
    beside: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one, lesson in zip(said, holds, strict=True):
        if not lesson:
            continue
        for name, place in one.alone:
            beside[place, lesson].add(plain(name))
        if one.lesson and one.folders:
            # In a lesson's folder, folders of learners and files of learners lie beside each other.
            beside[f"files in {one.scope.rpartition('/')[0]}", lesson].add(plain(one.names[one.folders - 1]))
    sure = {(name, place) for (place, _), names in beside.items() if len(names) > 1 for name in names}
    there = {plain(name) for name in known}
    found = []
    for one in said:
        doubtful = {name for name, place in one.alone if plain(name) not in there and (plain(name), place) not in sure}
        folders = one.folders - sum(name in doubtful for name in one.names[: one.folders])
        found.append(replace(one, names=tuple(name for name in one.names if name not in doubtful), folders=folders))
    return found


def _by_roster(said: Said, roster: Roster, fallback: str) -> Owner:
    found: frozenset[str] = frozenset()
    # What a file is called within somebody's folder is that learner's choice.
    for names in (said.names[: said.folders], said.names[said.folders :]):
        for name in () if found else names:
            found |= roster.who(name, said.account, said.system)
    for names in (said.names[: said.folders], said.names[said.folders :]):
        for name in () if found or said.system else names:
            found |= roster.within(name, is_nobody)
    if not found and said.system == "Moodle":
        # A download by groups puts the group's name before the learner's.
        parts = said.names[0].split("-")
        found = next((whose for at in range(1, len(parts)) if (whose := roster.who("-".join(parts[at:])))), found)
    if not found and fallback and not said.names:
        found = roster.who(fallback)
    if len(found) == 1:
        return Owner(next(iter(found)))
    if found:
        return Owner(why=f"it may belong to {_listed(found)}", several=True)
    if said.hidden:
        return Owner(why=HIDDEN)
    if said.deviates:
        return Owner(why=_deviates(said))
    called = " / ".join(said.names) or said.file
    return Owner(
        why=f"the table of names has no learner {called!r}" + (f" and no number {said.account}" if said.account else "")
    )


def _deviates(said: Said) -> str:
    return f"it is not called as {said.deviates} calls what it hands over, and all around it is"


def _listed(names: frozenset[str] | set[str]) -> str:
    shown = sorted(names)
    return " or ".join(shown[:3]) + (f" or {len(shown) - 3} more" if len(shown) > 3 else "")


class _Free:
    """Without a roster: a name is a learner's id as it stands, unless another one is too much like it."""

    def __init__(
        self, said: Sequence[Said], holds: Sequence[str | None], known: Sequence[str], accounts: Mapping[str, str]
    ) -> None:
        self.said = said
        self._known = {plain(name): name for name in known}
        self._alike: dict[str, set[str]] = defaultdict(set)
        self._numbers: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._spelled: dict[str, str] = {}
        plainly = [
            (one, lesson) for one, lesson in zip(said, holds, strict=True) if not one.system and lesson is not None
        ]
        self._wrappers, self._unclear = _wrappers(plainly, self._known)
        beneath: dict[tuple[str, str], set[str]] = defaultdict(set)
        for name in known:
            self._alike[bare(name)].add(plain(name))
        for one in said:
            names = self._names(one)
            if not names:
                continue
            # As it is spelled first; later spellings differ in letter case only.
            self._spelled.setdefault(plain(names[0]), unicodedata.normalize("NFC", names[0]))
            self._alike[bare(names[0])].add(plain(names[0]))
            if one.account:
                self._numbers[self._where(one), plain(names[0])].add(one.account)
        for one, lesson in plainly:
            names = self._names(one)
            if one.folders - (len(one.names) - len(names)) > 1:
                beneath[plain(names[0]), lesson].add(plain(names[1]))
        # One folder that holds several learners: then every outer folder may be a group's.
        self._groups = any(len(folders) > 1 for folders in beneath.values())
        for learner, number in accounts.items():
            self._numbers["Canvas", plain(learner)].add(number)

    def _names(self, said: Said) -> tuple[str, ...]:
        return said.names if said.system else tuple(name for name in said.names if plain(name) not in self._wrappers)

    def _where(self, said: Said) -> str:
        """Where a number of the LMS means something: with Canvas everywhere, with Moodle in one download."""
        return "Canvas" if said.system == "Canvas" else f"{said.system}: {said.scope}"

    def agreed(self, said: Said, owner: Owner, roster: Roster | None) -> Owner:
        """Whom the roster knows, unless the folder around bears a name that may be somebody's who is not on it yet."""
        names = self._names(said)
        if not owner.learner or roster is None or said.system or len(names) < 2:
            return owner
        if owner.learner in roster.who(names[0]) | roster.within(names[0], is_nobody):
            return owner
        return Owner(why=f"which is the learner, {names[0]!r} or {owner.learner!r}? {_SAY}", several=True)

    def owner(self, said: Said, fallback: str) -> Owner:
        names = self._names(said)
        if not names:
            if plain(fallback) in self._known:
                return Owner(self._known[plain(fallback)])
            return Owner(
                why=_deviates(said) if said.deviates else "neither a folder nor the file's name says whose it is"
            )
        name = plain(names[0])
        if said.hidden:
            return Owner(why=HIDDEN)
        numbers = self._numbers.get((self._where(said), name), set())
        if len(numbers) > 1:
            return Owner(why=f"{len(numbers)} learners are called {names[0]!r} ({_listed(numbers)})", several=True)
        if len(self._alike[bare(names[0])]) > 1:
            return Owner(why=f"it may belong to {_listed(self._alike[bare(names[0])])}", several=True)
        if not said.system and len(names) > 1 and (self._unclear or (self._groups and said.folders > 1)):
            several = " or ".join(repr(one) for one in names[:2])
            return Owner(why=f"which is the learner, {several}? {_SAY}", several=True)
        learner = self._known.get(name) or self._spelled[name]
        if why := why_no_learner(learner):
            return Owner(why=f"{learner[:60]!r} cannot be the name of a learner's folder: {why}")
        return Owner(learner)


def _wrappers(notebooks: Sequence[tuple[Said, str]], known: Collection[str]) -> tuple[set[str], bool]:
    """Names of folders around everything, of a class or an upload; and whether that cannot be told from a learner's.

    ``known``: who handed in before: what is called so is theirs.
    """
    found: set[str] = set()
    paths = [([plain(name) for name in said.names], said.folders, lesson) for said, lesson in notebooks]
    while len(paths) > 1 and len({(names or [""])[0] for names, _, _ in paths}) == 1:
        if not all(len(names) > 1 and folders for names, folders, _ in paths):
            break
        by_lesson: dict[str, set[str]] = defaultdict(set)
        for names, _, lesson in paths:
            by_lesson[lesson].add(names[1])
        several = max(len(names) for names in by_lesson.values())
        # One learner's folder holds each lesson once; a class's holds it once a learner.
        if several < 2:
            break
        if paths[0][0][0] in known or (several == 2 and all(folders == 1 for _, folders, _ in paths)):
            return found, True
        found.add(paths[0][0][0])
        paths = [(names[1:], folders - 1, lesson) for names, folders, lesson in paths]
    return found, False
