"""A GPT in small: every head of its attention is a module of its own, which one can hook."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["Block", "Head", "TinyGPT"]


class Head(nn.Module):
    """Each token adds up what it and the earlier tokens hold, weighted by `softmax`."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, size, bias=False) for _ in range(3))
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = self.query(x) @ self.key(x).mT / self.key.out_features**0.5
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)
        attention = self.softmax(scores.masked_fill(later, -torch.inf))
        return attention @ self.value(x)


class Block(nn.Module):
    """Attention, then a small network for each token. The block adds both to its input, and returns a dict."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.heads = nn.ModuleList(Head(width, width // heads) for _ in range(heads))
        self.project = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        seen = self.norm1(x)
        x = x + self.project(torch.cat([head(seen) for head in self.heads], dim=-1))
        return {"hidden": x + self.mlp(self.norm2(x))}


class TinyGPT(nn.Module):
    """For each token of a line of up to ``length``, scores for the one that comes next."""

    def __init__(self, words: int = 13, length: int = 11, width: int = 32, heads: int = 2, blocks: int = 2) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.token(tokens) + self.place.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)["hidden"]
        return self.head(self.norm(x))
