"""A model as a tree of boxes: what each module holds, in words. Nothing is drawn here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn
from torch.nn.parameter import is_lazy

from course.pictures.words import cut, deepest
from nbproof.text import counted

__all__ = ["Box", "Chip", "tree_of"]

# Deeper levels are left out, and counted in words, where the tree would have more boxes than this.
_MAX_BOXES = 26
_MAX_SIBLINGS, _MAX_CHIPS, _MAX_LETTERS = 12, 6, 44
_WRAP = 56  # letters of parameters and buffers side by side, before a new line begins


@dataclass(frozen=True)
class Chip:
    """One parameter or buffer, in words."""

    text: str
    look: str


@dataclass
class Box:
    """One module: its texts, its children, and after the layout its place in inches. Names are dotted, the root's is ''."""

    name: str
    attribute: str
    kind: str
    look: str
    number: int | None
    rows: list[list[Chip]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    children: list[Box] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    @property
    def letters(self) -> int:
        """The width, in letters."""
        head = len(f"{self.attribute}: {self.kind}" if self.attribute else self.kind)
        return max(head, *map(_letters, self.rows), 0, *map(len, self.notes))

    @property
    def looks(self) -> set[str]:
        """Its own, and those of what it holds."""
        return {self.look, *(chip.look for row in self.rows for chip in row)}

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
        number = "" if self.number is None else f"number {self.number}: "
        held = ", ".join([chip.text for row in self.rows for chip in row] + self.notes)
        return f"{number}{self.name or 'root'}, {self.kind}" + (f" [{held}]" if held else "")


def tree_of(module: nn.Module, numbers: Mapping[str, int]) -> Box:
    """The tree, down to the deepest level that fits; the boxes above say what is left out."""
    levels = [len(name.split(".")) if name else 0 for name, _ in module.named_modules()]
    return _Reader(numbers).box(module, "", max(1, deepest(levels, _MAX_BOXES)))


class _Reader:
    """One walk through a model. A module or a tensor that comes again is told by its first place."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.numbers = numbers
        self.seen: dict[int, str] = {}

    def box(self, module: nn.Module, name: str, depth: int) -> Box:
        attribute, kind = (cut(text, _MAX_LETTERS) for text in (name.rpartition(".")[2], type(module).__name__))
        look = "container" if isinstance(module, (nn.Sequential, nn.ModuleList, nn.ModuleDict)) else "module"
        box = Box(name, attribute, kind, look, self.numbers.get(name))
        if id(module) in self.seen:
            box.look = "seen before"
            box.notes.append(f"same object as {cut(self.seen[id(module)], _MAX_LETTERS) or 'the root'}")
            return box
        self.seen[id(module)] = name
        box.rows = _rows(self.chips(module, name))
        children = {f"{name}.{key}".lstrip("."): child for key, child in module.named_children()}
        shown = [*children]
        if children and depth == 0:
            shown = []
            inside, own = sum(1 for _ in module.modules()) - 1, sum(1 for _ in module.parameters(recurse=False))
            deeper = sum(1 for _ in module.parameters()) - own
            box.notes.append(f"+ {counted(inside, 'module')}, {counted(deeper, 'parameter')} inside")
        elif len(children) > _MAX_SIBLINGS:
            shown = shown[: _MAX_SIBLINGS - 1]
            box.notes.append(f"+ {counted(len(children) - len(shown), 'more module')}")
        box.children = [self.box(children[place], place, depth - 1) for place in shown]
        return box

    def chips(self, module: nn.Module, name: str) -> list[Chip]:
        held: list[tuple[str, Any, str]] = [(*one, "parameter (shape)") for one in module._parameters.items()]
        held += [(*one, "buffer (shape)") for one in module._buffers.items()]
        chips = []
        for key, value, look in held:
            if value is None:
                continue
            text = f"{key} = {self.seen[id(value)]}" if id(value) in self.seen else f"{key} {_shape(value)}"
            if look.startswith("parameter") and not value.requires_grad:
                text += " frozen"
            if key in module._non_persistent_buffers_set:
                text += " not saved"
            self.seen.setdefault(id(value), f"{name}.{key}".lstrip("."))
            chips.append(Chip(text, look))
        if len(chips) > _MAX_CHIPS:
            chips[_MAX_CHIPS - 1 :] = [Chip(f"+ {len(chips) - _MAX_CHIPS + 1} more", chips[-1].look)]
        return chips


def _shape(value: Any) -> str:
    return "(not yet known)" if is_lazy(value) else str(tuple(value.shape))


def _letters(row: list[Chip]) -> int:
    return sum(len(chip.text) + 2 for chip in row)


def _rows(chips: list[Chip]) -> list[list[Chip]]:
    """Chips side by side while they fit; parameters and buffers never share a row."""
    rows: list[list[Chip]] = []
    for chip in chips:
        if rows and rows[-1][0].look == chip.look and _letters(rows[-1]) + len(chip.text) <= _WRAP:
            rows[-1].append(chip)
        else:
            rows.append([chip])
    return rows
