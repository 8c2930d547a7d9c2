"""Whose is each file: from what names say, the roster, and who handed in before. What is not clear is listed, never guessed."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course.collecting.layouts import Said
from course.collecting.roster import Roster, bare, plain, why_no_learner

__all__ = ["Owner", "owners"]


@dataclass(frozen=True)
class Owner:
    """The learner of a file; without one, ``why`` says why, and ``several`` whether there are too many."""

    learner: str = ""
    why: str = ""
    several: bool = False


def owners(
    said: Sequence[Said], roster: Roster | None, known: Sequence[str], accounts: Mapping[str, str], fallback: str = ""
) -> list[Owner]:
    """The owner of each file of an upload.

    ``known``: learners who handed in before. ``accounts``: Canvas's numbers of them. ``fallback``: the upload's own
    name, which counts only where it is that of a learner who is known.
    """
    if roster is not None:
        return [_by_roster(one, roster, fallback) for one in said]
    free = _Free(said, known, accounts)
    return [free.owner(one, fallback) for one in said]


def _by_roster(said: Said, roster: Roster, fallback: str) -> Owner:
    found: frozenset[str] = frozenset()
    for name in said.names:
        found |= roster.who(name, said.account)
    if not found and not said.system:
        for name in said.names:
            found |= roster.within(name)
    if not found and fallback and not said.names:
        found = roster.who(fallback)
    if len(found) == 1:
        return Owner(next(iter(found)))
    if found:
        return Owner(why=f"it may be of {_listed(found)}", several=True)
    called = " / ".join(said.names) or said.file
    return Owner(
        why=f"the names have no learner {called!r}" + (f" and no number {said.account}" if said.account else "")
    )


def _listed(names: frozenset[str] | set[str]) -> str:
    shown = sorted(names)
    return " or ".join(shown[:3]) + (f" or {len(shown) - 3} more" if len(shown) > 3 else "")


class _Free:
    """Without a roster: a name is a learner's id as it stands, unless another one is too much like it."""

    def __init__(self, said: Sequence[Said], known: Sequence[str], accounts: Mapping[str, str]) -> None:
        self._known = {plain(name): name for name in known}
        self._alike: dict[str, set[str]] = defaultdict(set)
        self._numbers: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._beneath: dict[str, set[str]] = defaultdict(set)
        self._spelled: dict[str, str] = {}
        self._wrappers = _wrappers(said)
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
                self._numbers[one.scope if one.system != "Canvas" else "", plain(names[0])].add(one.account)
            if len(names) > 1 and not one.system:
                self._beneath[plain(names[0])].add(plain(names[1]))
        for learner, number in accounts.items():
            self._numbers["", plain(learner)].add(number)

    def _names(self, said: Said) -> tuple[str, ...]:
        return said.names if said.system else tuple(name for name in said.names if plain(name) not in self._wrappers)

    def owner(self, said: Said, fallback: str) -> Owner:
        names = self._names(said)
        if not names:
            if plain(fallback) in self._known:
                return Owner(self._known[plain(fallback)])
            return Owner(why="neither a folder nor the file's name says whose it is")
        name = plain(names[0])
        numbers = self._numbers.get((said.scope if said.system != "Canvas" else "", name), set())
        if len(numbers) > 1:
            return Owner(why=f"{len(numbers)} learners are called {names[0]!r} ({_listed(numbers)})", several=True)
        if len(self._alike[bare(names[0])]) > 1:
            return Owner(why=f"it may be of {_listed(self._alike[bare(names[0])])}", several=True)
        if len(self._beneath[name]) > 1 and not said.system and not _same(names, self._beneath[name]):
            return Owner(
                why=f"{names[0]!r} holds {len(self._beneath[name])} folders or names: which is the learner?",
                several=True,
            )
        learner = self._known.get(name) or self._spelled[name]
        if why := why_no_learner(learner):
            return Owner(why=f"{learner[:60]!r} cannot be the name of a learner's folder: {why}")
        return Owner(learner)


def _same(names: Sequence[str], beneath: set[str]) -> bool:
    """Whether what stands beneath a learner's folder is that learner's own name again."""
    return all(bare(names[0]) in bare(other) or bare(other) in bare(names[0]) for other in beneath)


def _wrappers(said: Sequence[Said]) -> set[str]:
    """Names of folders around everything: of a class, of an upload."""
    found: set[str] = set()
    plainly = [[plain(name) for name in one.names] for one in said if not one.system and one.names]
    while len(plainly) > 1 and len({names[0] for names in plainly}) == 1:
        rest = [names[1:] for names in plainly]
        # One learner's folder holds one learner's files; a class's holds several learners'.
        if not all(rest) or len({names[0] for names in rest}) < 2:
            break
        found.add(plainly[0][0])
        plainly = rest
    return found
