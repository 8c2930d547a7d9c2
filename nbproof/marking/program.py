"""What runs of a notebook while grading, and in what order: the graded cells, and of all others those that matter.

In a notebook everything runs. Here a cell that shows something runs only if an answer needs a name of it, or it works on
such a name; a cell of the learner's own only if it binds or mentions a name that an answer is about, or changes a module,
class or function for all (``nn.Module.tag = 1``). Who reads names that no text shows (``exec``, ``globals()``) gets
everything, and so does who gets an error while cells of the learner's own are left out (:mod:`nbproof.marking.submission`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbproof.cells import CellKind
from nbproof.marking.blueprint import Blueprint
from nbproof.recover.pieces import OwnCell, is_code
from nbproof.sandbox.cell_names import ALWAYS_THERE, CellNames

__all__ = ["Program", "Step", "needed", "own_name", "program"]

Step = tuple[CellKind, str]
"""(kind, name): setup, answer and test with their grade_id; show and own with a name made from their place."""


@dataclass(frozen=True)
class Program:
    """The steps of one submission, and what was left out."""

    steps: tuple[Step, ...]
    texts: Mapping[str, str]
    """Of steps that show something, or are the learner's own."""
    touched: frozenset[str]
    """Exercises on which a cell of the learner's own may have worked, although their TODO cell is as handed out."""
    left_out: frozenset[str] = frozenset()
    """Names that cells bind which do not run; ``*`` among them for names that nobody can see."""
    apart: bool = False
    """Whether no step works on what an exercise above it has left: then its checks may as well be asked at the end."""


@dataclass(frozen=True)
class _Line:
    """A step, with the names of its cell."""

    step: Step
    text: str
    names: CellNames


def program(
    blueprint: Blueprint, answers: Mapping[str, str], own: Sequence[OwnCell], names: Mapping[str, CellNames],
    all_of_it: bool = False,
) -> Program:  # fmt: skip
    """Choose. ``names``: of each answer by its id, and of each own cell by its step's name.

    ``own``: of a setup cell, what was added to it. ``all_of_it``: leave nothing out.
    """
    lines = _lines(blueprint, answers, own, names)
    chosen = {line.step for line in lines if line.step[0] not in (CellKind.OWN, CellKind.SHOW)}
    about = _about(blueprint, lines)
    all_of_it = all_of_it or any(line.names.anything for line in lines if line.step[0] is CellKind.ANSWER)
    for kind in (CellKind.OWN, CellKind.SHOW):
        chosen |= {line.step for line in lines if all_of_it and line.step[0] == kind}
    if not all_of_it:
        chosen |= _own_that_matter(lines, about, blueprint.given)
        chosen |= _shown_that_are_needed(lines, chosen)
    ran = [line for line in lines if line.step in chosen]
    left = [line.names for line in lines if line.step not in chosen]
    missed = {name for one in left for name in (*one.binds, *("*" if one.anything else ""))}
    return Program(
        tuple(line.step for line in ran), {line.step[1]: line.text for line in ran if line.text},
        _touched(blueprint, ran), frozenset(missed), _keep_apart(blueprint, ran),
    )  # fmt: skip


def _lines(
    blueprint: Blueprint, answers: Mapping[str, str], own: Sequence[OwnCell], names: Mapping[str, CellNames]
) -> list[_Line]:
    """All that could run, in the order in which it stands in the notebook."""
    behind: dict[int, list[_Line]] = {}
    changed = set()
    for number, one in enumerate(own):
        step = (CellKind.OWN, own_name(number))
        changed.add(one.place)
        if not one.source.strip():
            continue
        behind.setdefault(one.after, []).append(_Line(step, one.source, names.get(step[1], CellNames())))
    lines = list(behind.get(-1, ()))
    for place, cell in enumerate(blueprint.handout.cells):
        if not is_code(cell) or (cell.kind is CellKind.SHOW and place in changed):
            pass
        elif cell.kind is CellKind.SHOW:
            lines.append(_Line((CellKind.SHOW, f"shown {place}"), cell.source, blueprint.names[place]))
        else:
            known = names.get(cell.name, CellNames()) if cell.kind is CellKind.ANSWER else blueprint.names[place]
            lines.append(_Line((cell.kind, cell.name), "", known))
        lines += behind.get(place, ())
    return lines


def own_name(number: int) -> str:
    """The step's name of the own cell of this number."""
    return f"own {number}"


def _about(blueprint: Blueprint, lines: Sequence[_Line]) -> frozenset[str]:
    """The names that the answers, and the checks, are about."""
    asked = frozenset().union(*(test.probe.asks for test in blueprint.tests.values()))
    return asked.union(*(line.names.mentions for line in lines if line.step[0] is CellKind.ANSWER)) - ALWAYS_THERE


def _own_that_matter(lines: Sequence[_Line], about: frozenset[str], given: frozenset[str]) -> set[Step]:
    """Own cells that bind a name that is needed, or may work on something that an answer works on."""
    waiting = [line for line in lines if line.step[0] is CellKind.OWN]
    found: set[Step] = set()
    needed, state = set(about), set(about - given)
    # Functions, classes, modules: who changes one of them (`nn.Module.tag = 1`) changes it for all.
    definitions = given.union(*(line.names.defines for line in lines))
    while True:
        more = [
            line for line in waiting
            if line.names.anything or line.names.binds & needed or line.names.mentions & state
            or line.names.changes & definitions
        ]  # fmt: skip
        if not more:
            return found
        found |= {line.step for line in more}
        needed |= {name for line in more for name in line.names.now | line.names.later}
        # What works on their names may work on an answer's, too: an alias of a dict, a decorator that fills one.
        state |= {name for line in more for name in line.names.binds} - given
        waiting = [line for line in waiting if line not in more]


def _shown_that_are_needed(lines: Sequence[_Line], chosen: set[Step]) -> set[Step]:
    """Cells that show something, of which a cell that runs needs a name that nobody else binds before.

    With them those that work on such a name before it is needed for the last time: it is to be as they leave it.
    """
    found: set[Step] = set()
    shown = [(place, line) for place, line in enumerate(lines) if line.step[0] is CellKind.SHOW]
    bound_there = frozenset[str]().union(*(line.names.binds for _, line in shown))
    wanted: set[str] = set()
    while True:
        bound, missing, later = set(ALWAYS_THERE), set[str](), set[str]()
        for line in lines:
            if line.step in chosen or line.step in found:
                missing |= line.names.now - bound
                later |= line.names.later
                bound |= line.names.binds
        missing |= later - bound
        wanted |= missing & bound_there
        users = [place for place, line in enumerate(lines) if line.step in chosen and line.names.mentions & wanted]
        last = max(users, default=-1)
        more = {
            line.step for place, line in shown
            if line.names.binds & missing or (place < last and line.names.mentions & wanted)
        } - found  # fmt: skip
        if not more:
            return found
        found |= more


def _touched(blueprint: Blueprint, ran: Sequence[_Line]) -> frozenset[str]:
    mentioned = frozenset().union(*(line.names.mentions for line in ran if line.step[0] is CellKind.OWN))
    anything = any(line.names.anything for line in ran if line.step[0] is CellKind.OWN)
    return frozenset(test.exercise for test in blueprint.tests.values() if anything or test.probe.asks & mentioned)


def _keep_apart(blueprint: Blueprint, ran: Sequence[_Line]) -> bool:
    """Whether each step takes only what the instructor's cells define, or it binds itself.

    A name that is bound again keeps what it had for whoever had it; an object that is worked on does not.
    """
    made: set[str] = set()
    bound: dict[str, frozenset[str]] = {}
    for line in ran:
        kind, name = line.step
        names = line.names
        if kind is CellKind.TEST:
            test = blueprint.tests[name]
            reaches = test.probe.reads - bound.get(test.exercise, frozenset())
        else:
            reaches = names.now | names.later
            # The instructor's cells above all answers set what everybody has.
            if (names.anything or names.lasting) and (kind is not CellKind.SETUP or bound):
                return False
        if reaches & made:
            return False
        if kind is CellKind.ANSWER:
            bound[name] = names.binds
        if kind in (CellKind.ANSWER, CellKind.OWN, CellKind.SHOW):
            # Nobody works on a function, a class or a module without being seen (`lasting`).
            made |= names.binds - names.defines
    return True


def needed(steps: Sequence[Step]) -> Sequence[Step]:
    """Of these steps those that run: up to the last answer or test."""
    wanted = [place for place, (kind, _) in enumerate(steps) if kind in (CellKind.ANSWER, CellKind.TEST)]
    return steps[: max(wanted, default=-1) + 1]
