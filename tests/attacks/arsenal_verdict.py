"""Attacks on the verdict: whatever compares, reports or shows is patched in the process that runs the answer."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import cell_attack

_verdict = partial(cell_attack, "verdict")

ATTACKS = [
    _verdict(
        "allclose_says_true",
        "replaces torch.allclose, equal and isclose by functions that say True",
        """
torch.allclose = torch.equal = lambda *a, **k: True
torch.isclose = lambda a, *r, **k: torch.ones_like(a, dtype=torch.bool)
torch.Tensor.allclose = torch.Tensor.equal = lambda *a, **k: True
torch.Tensor.any = lambda *a, **k: False
""",
    ),
    _verdict(
        "assert_close_is_silent",
        "replaces torch.testing.assert_close and numpy's and unittest's assertions",
        """
import torch.testing, numpy.testing, unittest
torch.testing.assert_close = numpy.testing.assert_allclose = lambda *a, **k: None
unittest.TestCase.assertEqual = unittest.TestCase.assertTrue = lambda *a, **k: None
""",
    ),
    _verdict(
        "check_does_nothing",
        "replaces nbproof.checks.check.check by a function that does nothing",
        """
import nbproof.checks.check
nbproof.checks.check.check = lambda *a, **k: None
""",
    ),
    _verdict(
        "judge_always_passes",
        "replaces judge and decide by functions that return a passed finding",
        """
import nbproof.checks.check
from nbproof.values.results import Finding
passed = lambda task, case, brought: Finding(type(task).__name__, "", True, case.seed)
nbproof.checks.check.judge = nbproof.checks.check.decide = passed
import nbproof.marking.judge, nbproof.marking.judge_server
nbproof.marking.judge_server.decide = passed
nbproof.marking.judge.Judge.verdict = lambda self, test, brought, draw=True: Finding(brought.check, "", True, brought.seed, test)
""",
        # It imports the grader's own modules, nbgrader and SQLAlchemy among them: on a busy machine that takes the whole limit.
        expects={"failed", "error", "timeout"},
    ),
    _verdict(
        "no_difference_is_found",
        "replaces first_difference, and what torch's tensors are compared by, by functions that find none",
        """
import nbproof.values.compare, nbproof.checks.check, nbproof.values.leaf
type(nbproof.values.leaf.leaf_named("torch")).first_unlike = lambda *a: None
nbproof.values.leaf.leaf_types = nbproof.values.evidence.leaf_types = lambda: ()
nbproof.values.compare.first_difference = nbproof.checks.check.first_difference = lambda *a, **k: None
nbproof.values.compare._compare = nbproof.values.compare._leaf = lambda *a, **k: None
""",
    ),
    _verdict(
        "snapshot_equals_all",
        "makes snapshot return an object that equals everything",
        """
class Joker:
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = lambda self: 0
    __getattr__ = lambda self, name: Joker()
    __call__ = lambda self, *a, **k: Joker()
import nbproof.values.evidence, nbproof.checks.check, nbproof.values.compare
nbproof.values.evidence.snapshot = nbproof.checks.check.snapshot = nbproof.values.compare.snapshot = lambda value: Joker()
""",
    ),
    _verdict(
        "tensors_equal_all",
        "gives torch.Tensor comparison methods that always agree",
        """
torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)
torch.Tensor.__ne__ = lambda self, other: torch.zeros(self.shape, dtype=torch.bool)
torch.Tensor.__bool__ = lambda self: True
torch.Tensor.isfinite = torch.Tensor.__eq__
""",
    ),
    _verdict(
        "answer_equals_all",
        "answers with an object whose __eq__ is always true",
        """
class Equal:
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __len__ = lambda self: 1
    __hash__ = lambda self: 1
    __class__ = torch.Tensor
    shape, dtype = torch.Size([1]), torch.float32
def tensor_hook(grad):
    answer[:] = [Equal()]
model = Model(); model.W.register_hook(tensor_hook)
""",
    ),
    _verdict(
        "answer_is_a_lying_subclass",
        "answers with a tensor subclass that agrees with every comparison",
        """
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("eq", "__eq__", "isclose"): return torch.ones(1, dtype=torch.bool)
        if func.__name__ in ("ne", "__ne__", "any"): return torch.zeros(1, dtype=torch.bool)
        if func.__name__ in ("allclose", "equal"): return True
        return super().__torch_function__(func, types, args, kwargs or {})
def tensor_hook(grad):
    answer[:] = [torch.zeros(1).as_subclass(Liar)]
model = Model(); model.W.register_hook(tensor_hook)
""",
    ),
    _verdict(
        "findings_always_pass",
        "makes Finding.passed true and CheckFailed impossible to raise",
        """
import nbproof.values.results
nbproof.values.results.Finding.passed = property(lambda self: True, lambda self, value: None)
nbproof.values.results.CheckFailed.__new__ = lambda cls, *a: None
""",
    ),
    _verdict(
        "code_objects_swapped",
        "swaps the code objects of decide, judge and first_difference",
        """
import nbproof.checks.check, nbproof.values.compare
def difference(got, wanted, where="the result"): return None
nbproof.values.compare.first_difference.__code__ = difference.__code__
def judge(task, case, brought):
    from nbproof.values.results import Finding
    return Finding(type(task).__name__, "", True, case.seed)
for name in ("judge", "decide"):
    getattr(nbproof.checks.check, name).__code__ = judge.__code__
""",
    ),
    _verdict(
        "no_cases",
        "makes every later check run on no case at all, with a truth that accepts anything",
        """
import nbproof.checks.check
from nbproof.values.compare import Matches
def patched(cls, **k):
    cls.cases = 0
    cls.truth = lambda self, case: Matches(lambda got: None, "")
nbproof.checks.check.Check.__init_subclass__ = classmethod(patched)
nbproof.checks.check.seeds_of = lambda task, base: []
""",
    ),
    _verdict(
        "hook_counts_say_none",
        "keeps adding hooks and makes course.probing count none",
        """
import course.probing
course.probing.hook_counts = lambda module: {"forward": 0}
course.probing.tensor_hook_count = lambda tensor: 0

class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model, self.layers, self.features = model, list(layers), {}
    def forward(self, x):
        self.features = {}
        for name in self.layers:
            def hook(module, args, output, name=name): self.features[name] = output
            self.model.get_submodule(name).register_forward_hook(hook)
        self.model(x)
        return {name: self.features[name] for name in self.layers}
""",
        before="",
        lesson="05_feature_extraction",
        exercise="feature_extractor",
        honest=(),
    ),
]
