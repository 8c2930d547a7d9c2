"""What the lessons' nets learn from, without a network: pictures and digits inside scikit-learn, and lines to write."""

from __future__ import annotations

import functools
import gzip
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

__all__ = [
    "DIGITS",
    "WORDS",
    "digit_batches",
    "digits",
    "jittered",
    "lines",
    "picture",
    "reads",
    "train_to_read",
    "train_to_write",
    "train_until_nan",
    "write",
]

WORDS = [*"0123456789", "copy", "reverse", "="]
"""What a line is made of: a task, then digits, =, and the digits again, as they were or from behind."""

DIGITS = 5


def picture(name: str = "flower", size: int = 96) -> torch.Tensor:
    """A photograph, 'flower' or 'china': shape (1, 3, size, size), float32, values from 0 to 1."""
    from PIL import Image

    with Image.open(_shipped("images", f"{name}.jpg")) as photograph:
        pixels = torch.from_numpy(np.array(photograph)).permute(2, 0, 1)
    side = min(pixels.shape[1:])
    top, left = (pixels.shape[1] - side) // 2, (pixels.shape[2] - side) // 2
    square = pixels[None, :, top : top + side, left : left + side].float() / 255
    return torch.nn.functional.interpolate(square, size=(size, size), mode="bilinear", antialias=True)


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """1,797 handwritten digits: pictures (1797, 1, 8, 8), float32 from 0 to 1, and labels (1797,), int64."""
    table = _digits()
    return table[:, :-1].reshape(-1, 1, 8, 8).float() / 16, table[:, -1].long()


def digit_batches(steps: int = 100) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of 128 digits each, always the same ones. Somebody forgot to divide the pixels of batch 60 by 255."""
    pictures, labels = digits()
    generator = torch.Generator().manual_seed(0)
    for step in range(steps):
        chosen = torch.randint(len(pictures), (128,), generator=generator)
        batch = pictures[chosen]
        if step == 60:
            batch = batch * 255
        yield batch, labels[chosen]


def jittered(pictures: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """The same pictures (N, C, H, W), each moved by up to one pixel up or down and left or right; zeros come in."""
    (rows, columns), (high, wide) = torch.randint(3, (2, len(pictures)), generator=generator), pictures.shape[2:]
    padded = torch.nn.functional.pad(pictures, (1, 1, 1, 1))
    moved = [one[:, r : r + high, c : c + wide] for one, r, c in zip(padded, rows, columns, strict=True)]
    return torch.stack(moved)


def train_to_read(net: torch.nn.Module, steps: int = 61, lr: float = 0.05) -> list[float]:
    """Train a net on 1,400 of the digits, print how the loss falls, and return the losses. It gets rows of 64 pixels."""
    (pictures, labels), losses = digits(), []
    optimizer = torch.optim.Adam(net.parameters(), lr)
    for step in range(steps):
        loss = torch.nn.functional.cross_entropy(net(pictures[:1400].flatten(1)), labels[:1400])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
        if step % 20 == 0:
            print(f"step {step:2}   loss {loss.item():.2f}")
    return losses


def reads(net: torch.nn.Module) -> str:
    """The share of right answers for the 397 digits that no training has seen, in percent."""
    pictures, labels = digits()
    share = (net(pictures[1400:].flatten(1)).argmax(dim=1) == labels[1400:]).float().mean().item()
    return f"{share:.0%}"


def train_until_nan(
    net: torch.nn.Module,
    loss_of: Callable[[torch.Tensor], torch.Tensor],
    batches: torch.Tensor,
    lr: float,
) -> tuple[list[float], torch.Tensor]:
    """Train on one batch after the other, but stop when a gradient has a NaN; return the losses and the last batch."""
    optimizer, losses = torch.optim.SGD(net.parameters(), lr), []
    for batch in batches:
        loss = loss_of(batch)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if any(bool(parameter.grad.isnan().any()) for parameter in net.parameters() if parameter.grad is not None):
            break  # a step would make the weights NaN
        optimizer.step()
    return losses, batch


def lines(task: str, digits: torch.Tensor) -> torch.Tensor:
    """One line for each row of digits, such as ``copy 4 0 7 2 9 = 4 0 7 2``: what is still to come is the last digit."""
    answer = digits.flip(1) if task == "reverse" else digits
    first, equals = (torch.full((len(digits), 1), WORDS.index(word)) for word in (task, "="))
    return torch.cat([first, digits, equals, answer[:, :-1]], dim=1)


def train_to_write(gpt: torch.nn.Module, steps: int = 150) -> None:
    """Train on random lines of digits. The model has to copy half of the lines and reverse the others. Prints the loss."""
    optimizer = torch.optim.Adam(gpt.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=steps)
    for step in range(1, steps + 1):
        digits = torch.randint(10, (64, DIGITS))
        scores = gpt(torch.cat([lines("copy", digits[:32]), lines("reverse", digits[32:])]))[:, -DIGITS:]
        answers = torch.cat([digits[:32], digits[32:].flip(1)])
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        if step % 50 == 0:
            print(f"step {step}   loss {loss.item():.2f}")


def write(gpt: torch.nn.Module, line: str) -> str:
    """What a GPT adds to a line such as ``copy 4 0 7 2 9 =``, digit by digit."""
    begun = [WORDS.index(word) for word in line.split()]
    tokens = torch.full((1, len(begun) + DIGITS - 1), WORDS.index("="))  # what stands behind, no token can see
    tokens[0, : len(begun)] = torch.tensor(begun)
    written = []
    with torch.no_grad():
        for place in range(len(begun) - 1, tokens.shape[1]):
            written.append(gpt(tokens)[0, place].argmax())
            tokens[0, place + 1 : place + 2] = written[-1]
    return " ".join(WORDS[token] for token in written)


@functools.cache
def _digits() -> torch.Tensor:
    """One digit a row: 64 pixels from 0 to 16, and the label."""
    with gzip.open(_shipped("data", "digits.csv.gz"), "rt") as lines:
        return torch.from_numpy(np.loadtxt(lines, delimiter=","))


def _shipped(*parts: str) -> Path:
    """A data file of scikit-learn, found without importing it: that would take a lesson nearly a second."""
    spec = importlib.util.find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("scikit-learn, which the pictures come with, is not installed: see requirements.txt")
    return Path(spec.origin).parent.joinpath("datasets", *parts)
