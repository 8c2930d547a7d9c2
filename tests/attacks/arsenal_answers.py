"""Attacks by answers that lie about what they are."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import STOCK_NO_WIRE, cell_attack

_forge = partial(cell_attack, "evidence", stock=STOCK_NO_WIRE)
_answer = partial(cell_attack, "evidence")


ATTACKS = [
    _answer(
        "lying_lists",
        "answers with a list whose length, iterator and comparison lie",
        """
class Lies(list):
    __len__ = lambda self: 1
    __iter__ = lambda self: iter([torch.zeros(1)] * 10**9)
    __eq__ = lambda self, other: True
    __getitem__ = lambda self, index: torch.zeros(1)
    def clear(self): pass
answer = Lies()
""",
        keeps=True,
    ),
    _answer(
        "endless_answers",
        "answers with a mapping that never ends",
        """
from collections.abc import Mapping
class Endless(Mapping):
    def __len__(self): return 1
    def __getitem__(self, key): return 0
    def __iter__(self):
        n = 0
        while True:
            n += 1
            yield str(n)
def tensor_hook(grad): answer.append(Endless())
model = Model(); model.W.register_hook(tensor_hook)
""",
        keeps=True,
    ),
    _answer(
        "lists_that_hold_themselves",
        "answers with a list that holds itself, ten times",
        """
def tensor_hook(grad): answer.extend([answer] * 10)
model = Model(); model.W.register_hook(tensor_hook)
""",
        keeps=True,
    ),
    _answer(
        "lazy_answers",
        "answers with tensors that compute themselves only when they are looked at",
        """
class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        import sys
        frame = sys._getframe(1)
        while frame is not None:
            if "wanted" in frame.f_locals: return frame.f_locals["wanted"]
            frame = frame.f_back
        return super().__torch_function__(func, types, args, kwargs or {})
def tensor_hook(grad): answer.append(torch.zeros(1).as_subclass(Lazy))
model = Model(); model.W.register_hook(tensor_hook)
""",
        keeps=True,
    ),
    _answer(
        "answers_of_odd_kinds",
        "answers with sparse, quantized, meta and freed tensors",
        """
def tensor_hook(grad):
    freed = torch.zeros(1); freed.untyped_storage().resize_(0)
    answer.extend([torch.zeros(1, device="meta"), torch.zeros(1).to_sparse(), freed, torch.zeros(1, 2)[:, :0], 10**5000])
model = Model(); model.W.register_hook(tensor_hook)
""",
        keeps=True,
    ),
    _answer(
        "shapes_that_multiply",
        "answers with a row and a column of 30,000 elements, which a check multiplies to see whether they fit together",
        """
answer = [[torch.tensor([5.]), torch.tensor([1.])], [torch.ones(30_000, 1), torch.ones(1, 30_000)]]
""",
        before="",
        lesson="03_module_hooks",
        exercise="legacy_autopsy",
        honest=(),
    ),
    _answer(
        "numbers_that_size",
        "answers with numbers of ten thousand digits, as values and as keys, and with a million short entries",
        """
def tensor_hook(grad): answer.extend([10**10_000, {10**10_000: 10**10_000}, [[]] * 1_000_000, float("nan")])
model = Model(); model.W.register_hook(tensor_hook)
""",
        keeps=True,
    ),
]
