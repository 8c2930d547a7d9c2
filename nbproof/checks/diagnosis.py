"""From a difference, or an error, to the misconception behind it.

Only what is certain gets a name: an error whose text fits one cause, a wrong value that equals
what a known mistake would have brought. For the rest the first difference has to speak.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from nbproof.values.compare import AnyOf, Close, Difference, Matches, is_same
from nbproof.values.evidence import Evidence, TensorRecord

__all__ = ["hint_for_difference", "hint_for_error"]

_ERRORS: tuple[tuple[str, str], ...] = (
    (r"TypeError: .*takes \d+ positional arguments? but \d+ (was|were) given", "hook_arguments"),
    (r"TypeError: .*hook.* missing \d+ required positional argument", "hook_arguments"),
    (r"TypeError: matmul\(\): argument 'input' .*not tuple", "input_is_tuple"),
    (r"TypeError: (unsupported operand .*'tuple'|can only concatenate tuple)", "input_is_tuple"),
    (r"RuntimeError: Only Tensors of floating point .*can require gradients", "integer_parameter"),
    (r"TypeError: .*forward\(\) missing \d+ required positional argument", "drops_argument"),
    (r"TypeError: cannot assign .* (as|object to) parameter", "tensor_for_parameter"),
    (r"AttributeError: '(Tensor|Parameter)' object has no attribute", "unknown_method"),
    (r"(NameError|UnboundLocalError): ", "undefined_name"),
    (r"RuntimeError: a (view of a )?leaf Variable that requires grad", "leaf_in_place"),
    (r"RuntimeError: .*BackwardHookFunction.* is a view and is being modified inplace", "in_place_after_full_hook"),
    (r"RuntimeError: .*(invalid number of grad_input|expected \d+ elements? in grad_input)", "full_hook_return"),
    (r"RuntimeError: hook '.*' has changed the (size|type) of value", "hook_changes_shape"),
    (r"TypeError: 'tuple' object does not support item assignment", "tuple_is_fixed"),
    (r"RuntimeError: .*modified by an inplace operation", "overwrites_saved"),
    (r"RuntimeError: Boolean value of Tensor with more than one value", "truth_of_tensor"),
    (r"TypeError: expected Variable, but hook returned", "hook_returns_no_tensor"),
    (r"RuntimeError: unsupported operation: more than one element of the written-to tensor", "edits_in_place"),
    (r"RuntimeError: cannot register a hook on a tensor that doesn't require gradient", "no_gradient_needed"),
    (r"RuntimeError: post accumulate grad hooks cannot be registered on non-leaf", "post_accumulate_on_non_leaf"),
    (r"RuntimeError: (self|mat1) must be a matrix", "matrix_only"),
    (r"RuntimeError: (mat1 and mat2 shapes cannot be multiplied|The size of tensor a)", "shapes_do_not_fit"),
    (r"RuntimeError: element 0 of tensors does not require grad", "gradient_cut"),
    (r"ValueError: some parameters appear in more than one parameter group", "parameter_in_two_groups"),
    (r"AttributeError: cannot assign \w+ before Module.__init__\(\) call", "init_forgotten"),
    (r"TypeError: cannot assign .* as child module", "function_for_module"),
    (r"NotImplementedError: Module \[Module(List|Dict)\]", "container_without_forward"),
    (r"TypeError: \S+\(\) missing \d+ required positional argument", "hook_arguments"),
    (r"NotImplementedError: *$", "not_started"),
    (r"Unanswered: `\w+` is not defined", "cell_stopped"),
)


def hint_for_error(
    kind: str, message: str, line: str = "", inside: str = "", first: Mapping[str, str] | None = None
) -> str | None:
    """The id of the hint for an exception that learner code raised; None where the text fits no known cause.

    ``line`` and ``inside`` say where it was raised (:class:`nbproof.values.results.ProbeError`): Python words a
    hook that PyTorch calls, and a function that the learner calls, in the same way. ``first`` are the
    patterns of one check (:attr:`nbproof.checks.check.Check.errors`), which know better than the general ones.
    """
    text = f"{kind}: {message}".replace("\n", " ")
    for pattern, hint in (first or {}).items():
        if re.match(pattern, text):
            return hint
    for pattern, hint in _ERRORS:
        if re.match(pattern, text) and _fits_place(hint, text, line, inside):
            return hint
    return None


def _fits_place(hint: str, text: str, line: str, inside: str) -> bool:
    """Whether the place of an error allows for the cause that its text suggests."""
    if hint == "hook_arguments":
        called = text.removeprefix("TypeError: ").split("()", 1)[0].split(".")[-1]
        by_torch = inside != "" and inside != "apply"
        return called not in ("forward", "__init__") and (by_torch or called.endswith("hook"))
    if hint == "drops_argument":
        # With a line of the learner's in between, they may have called the model so themselves.
        return line == ""
    return True


def hint_for_difference(
    evidence: Evidence,
    difference: Difference,
    wanted: object,
    mistakes: Mapping[str, object],
    blame: Mapping[str, str],
    poisoned: bool,
) -> str | None:
    """The id of the hint for a wrong result; None where no misconception is certain.

    ``mistakes`` maps hint ids to what that mistake would have brought (fields that a mistake leaves
    out are not compared; AnyOf where it shows in more than one way), ``blame`` maps a field of the
    result to the one misconception that makes it wrong, ``poisoned`` says that the notebook's
    variables were NaN meanwhile.
    """
    for hint, brought in mistakes.items():
        if _brings(evidence, brought, wanted):
            return hint
    field = re.split(r"\[", difference.where, maxsplit=1)[0]
    if poisoned and difference.kind in ("nonfinite", "shape", "dtype", "value") and _holds_nan(_at(evidence, field)):
        return "reads_globals"
    for name, hint in blame.items():
        if re.match(rf"{re.escape(name)}(\[|$)", difference.where):
            return hint
    if difference.kind == "count" and difference.got == "0 items" and difference.where == field:
        return "hook_never_ran"
    if isinstance(evidence, dict) and isinstance(wanted, Mapping):
        return "wrong_order" if _permuted(evidence.get(field), wanted.get(field)) else None
    return "wrong_order" if _permuted(evidence, wanted) else None


def _at(evidence: Evidence, field: str) -> Evidence:
    return evidence.get(field) if isinstance(evidence, dict) else evidence


def _holds_nan(value: Evidence) -> bool:
    if isinstance(value, TensorRecord):
        tensor = value.tensor()
        return bool((tensor != tensor).any())
    if isinstance(value, (list, dict)):
        return any(_holds_nan(item) for item in (value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value != value


def _brings(evidence: Evidence, brought: object, wanted: object) -> bool:
    """Whether this is what a mistake brings, in fields of which one at least is wrong.

    On some inputs a mistake brings what is right. Then it explains nothing. A field that is there
    to be looked at (Matches, such as probing.ANYTHING) always tells.
    """
    if isinstance(brought, AnyOf):
        return any(_brings(evidence, option, wanted) for option in brought.options)
    if not isinstance(brought, Mapping) or not isinstance(evidence, dict):
        return is_same(evidence, brought)
    if any(key not in evidence or not is_same(evidence[key], brought[key], str(key)) for key in brought):
        return False
    known = wanted if isinstance(wanted, Mapping) else {}
    return any(_tells(evidence[key], known[key], str(key)) if key in known else True for key in brought)


def _tells(got: Evidence, wanted: object, field: str) -> bool:
    return isinstance(wanted, Matches) or not is_same(got, wanted, field)


def _permuted(got: Evidence, wanted: object) -> bool:
    """Whether a list holds the wanted items in another order."""
    if isinstance(wanted, AnyOf):
        return any(_permuted(got, option) for option in wanted.options)
    if isinstance(wanted, Close):
        return isinstance(wanted.value, (list, tuple)) and _permuted(
            got, [Close(item, wanted.rtol, wanted.atol) for item in wanted.value]
        )
    if not isinstance(wanted, (list, tuple)) or not isinstance(got, list) or len(got) != len(wanted):
        return False
    # Yes and no in another order are other answers, not the same ones in another order.
    if len(got) > 200 or not all(isinstance(item, (TensorRecord, str, int)) and type(item) is not bool for item in got):
        return False
    left = list(wanted)
    for item in got:
        match = next((index for index, other in enumerate(left) if is_same(item, other)), None)
        if match is None:
            return False
        del left[match]
    return True
