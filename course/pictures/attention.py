"""Which tokens each head looks back at, while a model of words writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from course.pictures.canvas import Picture, empty_picture, in_own_style
from course.pictures.words import cut, listed

__all__ = ["draw_attention"]

_CELL, _LEFT, _GAP = 0.185, 0.75, 0.25
_TITLE = "Where the heads look"
_WORDS = 0.97
"""Inches of a row of pictures that are words: above, between and below."""


@in_own_style
def draw_attention(
    attention: Mapping[str, Mapping[str, torch.Tensor]],
    words: Mapping[str, Sequence[str]],
    last: int | None = None,
) -> Picture:
    """Draw the attention of some heads, a row of pictures a line that was read. Dark is where a token takes much.

    ``attention`` maps a name for the line to ``{head: tensor}``. Each tensor is (T, T); dimensions of size 1 may come before.
    Its row is a token, and the numbers in that row say how much the token takes of each token. ``words`` maps the same name to
    the T words of the line. ``last`` draws the last rows only.
    """
    drawn = {name: heads for name, heads in attention.items() if heads}
    if not drawn:
        return empty_picture(_TITLE, "Nothing recorded: has the hook run?")
    plain = {name: _plain(heads, len(words[name])) for name, heads in drawn.items()}
    columns = max(map(len, plain.values()))
    wide = _CELL * max(len(words[name]) for name in plain)
    rows = {name: min(last or len(words[name]), len(words[name])) for name in plain}
    tall = 0.9 + sum(_CELL * count + _WORDS for count in rows.values())
    alt = f"{_TITLE}. {listed(_told(plain, words, rows))}"
    picture = Picture(max(_LEFT + columns * (wide + _GAP), 5.6), tall, alt)
    top = picture.titled(_TITLE, "a row: how much the token on its left takes of each one below; dark = much") - 0.6
    for name, heads in plain.items():
        picture.write(0.15, top, cut(name, 30), weight="bold")
        for place, (head, one) in enumerate(heads.items()):
            size = (len(words[name]) * _CELL, rows[name] * _CELL)
            left, bottom = _LEFT + place * (wide + _GAP), top - 0.35 - size[1]
            picture.write(left, bottom + size[1] + 0.12, cut(head, 28), fontsize=8)
            picture.shade(one[-rows[name] :].numpy(), (left, bottom, *size), (0.0, 1.0), cmap="Blues")
            rows_with_words = rows[name] if place == 0 else 0
            _write_words(picture, words[name], rows_with_words, left, bottom)
        top -= rows[name] * _CELL + _WORDS
    return picture


def _plain(heads: Mapping[str, torch.Tensor], tokens: int) -> dict[str, torch.Tensor]:
    """The attention of each head as float32, of shape (tokens, tokens)."""
    return {head: one.detach().cpu().float().reshape([tokens] * 2) for head, one in heads.items()}


def _write_words(picture: Picture, words: Sequence[str], rows: int, left: float, bottom: float) -> None:
    """Words below the columns, and, of the first picture, left of the rows."""
    for place, word in enumerate(words):
        turned = 90 if len(word) > 1 else 0
        style = {"fontsize": 7.5, "ha": "center", "va": "top", "rotation": turned}
        picture.write(left + (place + 0.5) * _CELL, bottom - 0.04, cut(word, 8), **style)
    for place, word in enumerate(words[len(words) - rows :]):
        picture.write(left - 0.08, bottom + (rows - place - 0.5) * _CELL, cut(word, 8), fontsize=7.5, ha="right")


def _told(
    plain: Mapping[str, Mapping[str, torch.Tensor]], words: Mapping[str, Sequence[str]], rows: Mapping[str, int]
) -> list[str]:
    """A sentence for each head: the word that each of the drawn tokens takes most of."""
    found = []
    for name, heads in plain.items():
        for head, one in heads.items():
            most = ", ".join(f"{words[name][at]} (place {at})" for at in one[-rows[name] :].argmax(1))
            found.append(f"{name}, {head}: looks most at {most}")
    return found
