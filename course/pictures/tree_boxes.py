"""A model as a tree of boxes: what each module holds, in words. Nothing is drawn here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn
from torch.nn.parameter import is_lazy

from course.pictures.words import amount, cut

__all__ = ["Box", "Chip", "tree_of"]

MAX_BOXES = 26
"""Deeper levels are left out, and counted in words, where the tree would have more boxes than this."""

_MAX_SIBLINGS = 12
_MAX_CHIPS = 6
_WRAP = 30  # letters of parameters and buffers side by side, before a new line begins
_MAX_LETTERS = 44


@dataclass(frozen=True)
class Chip:
    """One parameter or buffer, in words."""

    text: str
    buffer: bool


@dataclass
class Box:
    """One module: its texts, its children, and after the layout its place in inches."""

    name: str
    """Dotted, from the root, which is ''."""
    attribute: str
    kind: str
    container: bool
    number: int | None = None
    rows: list[list[Chip]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shared: bool = False
    children: list[Box] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    @property
    def head(self) -> str:
        return f"{self.attribute}: {self.kind}" if self.attribute else self.kind

    @property
    def letters(self) -> int:
        """The width, in letters."""
        return max(
            len(self.head), *(sum(len(chip.text) + 2 for chip in row) for row in self.rows), 0, *map(len, self.notes)
        )

    @property
    def lines(self) -> int:
        return 1 + len(self.rows) + len(self.notes)

    def walk(self) -> Iterator[Box]:
        """This box and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def in_words(self) -> str:
        """``3: layer1.0, Linear [weight (3, 3), bias (3,)]``."""
        text = f"{self.name or 'root'}, {self.kind}"
        if self.number is not None:
            text = f"number {self.number}: {text}"
        held = [chip.text for row in self.rows for chip in row] + self.notes
        return f"{text} [{', '.join(held)}]" if held else text


def tree_of(module: nn.Module, numbers: Mapping[str, int]) -> Box:
    """The tree, down to the deepest level that fits; the boxes above say what is left out."""
    return _Reader(numbers).box(module, "", "", _depth_that_fits(module))


def _depth_that_fits(module: nn.Module) -> int:
    """The deepest level, at least 1, down to which the tree has no more than MAX_BOXES boxes."""
    total, level, depth = 1, [module], 0
    while level:
        level = [child for one in level for child in list(one.children())[:_MAX_SIBLINGS]]
        total += len(level)
        if depth >= 1 and total > MAX_BOXES:
            break
        depth += 1
    return depth


class _Reader:
    """One walk through a model. A module or a tensor that comes again is told by its first place."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.numbers = numbers
        self.modules: dict[int, str] = {}
        self.tensors: dict[int, str] = {}

    def box(self, module: nn.Module, name: str, attribute: str, depth: int) -> Box:
        container = isinstance(module, (nn.Sequential, nn.ModuleList, nn.ModuleDict))
        kind = cut(type(module).__name__, _MAX_LETTERS)
        box = Box(name, cut(attribute, _MAX_LETTERS), kind, container, self.numbers.get(name))
        if id(module) in self.modules:
            box.shared = True
            box.notes.append(f"same object as {cut(self.modules[id(module)], _MAX_LETTERS) or 'the root'}")
            return box
        self.modules[id(module)] = name
        box.rows = _rows(self.chips(module, name))
        children = [(key, child) for key, child in module._modules.items() if child is not None]
        if children and depth == 0:
            inside = sum(1 for _ in module.modules()) - 1
            own = {id(parameter) for parameter in module.parameters(recurse=False)}
            deeper = sum(1 for parameter in module.parameters() if id(parameter) not in own)
            box.notes.append(f"+ {amount(inside, 'module')}, {amount(deeper, 'parameter')} inside")
            box.notes += self.left_out(name, [key for key, _ in children])
            return box
        shown = children if len(children) <= _MAX_SIBLINGS else children[: _MAX_SIBLINGS - 1]
        for key, child in shown:
            box.children.append(self.box(child, f"{name}.{key}" if name else key, key, depth - 1))
        if len(shown) < len(children):
            box.notes.append(f"+ {amount(len(children) - len(shown), 'more child', 'more children')}")
            box.notes += self.left_out(name, [key for key, _ in children[len(shown) :]])
        return box

    def left_out(self, name: str, keys: list[str]) -> list[str]:
        """The numbers of the modules that are not drawn."""
        starts = [f"{name}.{key}" if name else key for key in keys]
        found = sorted(
            number
            for place, number in self.numbers.items()
            if any(place == start or place.startswith(f"{start}.") for start in starts)
        )
        if not found:
            return []
        whole = found == list(range(found[0], found[-1] + 1))
        if len(found) > 6 or (whole and len(found) > 1):
            return [f"numbers {found[0]} to {found[-1]}" if whole else f"numbers between {found[0]} and {found[-1]}"]
        return [f"number{'s' if len(found) > 1 else ''} {', '.join(map(str, found))}"]

    def chips(self, module: nn.Module, name: str) -> list[Chip]:
        chips = []
        for registered, buffer in ((module._parameters, False), (module._buffers, True)):
            for key, value in registered.items():
                if value is None:
                    continue
                text = f"{key} {_shape(value)}"
                if id(value) in self.tensors:
                    text = f"{key} = {self.tensors[id(value)]}"
                if not buffer and not value.requires_grad:
                    text += " frozen"
                if key in module._non_persistent_buffers_set:
                    text += " not saved"
                self.tensors.setdefault(id(value), f"{name}.{key}" if name else key)
                chips.append(Chip(text, buffer))
        if len(chips) > _MAX_CHIPS:
            rest = chips[_MAX_CHIPS - 1 :]
            chips = [*chips[: _MAX_CHIPS - 1], Chip(f"+ {len(rest)} more", all(chip.buffer for chip in rest))]
        return chips


def _shape(value: Any) -> str:
    return "(not yet known)" if is_lazy(value) else str(tuple(value.shape))


def _rows(chips: list[Chip]) -> list[list[Chip]]:
    """Chips side by side while they fit; parameters and buffers never share a row."""
    rows: list[list[Chip]] = []
    for chip in chips:
        last = rows[-1] if rows else None
        if last and last[0].buffer == chip.buffer and sum(len(c.text) + 2 for c in last) + len(chip.text) <= _WRAP:
            last.append(chip)
        else:
            rows.append([chip])
    return rows
