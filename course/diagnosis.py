"""From a difference, or an error, to the misconception behind it.

Only what is certain gets a name: an error whose text fits one cause, a wrong value that equals
what a known mistake would have brought. For the rest the first difference has to speak.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from course.compare import Difference, first_difference
from course.evidence import Evidence, TensorRecord

__all__ = ["hint_for_difference", "hint_for_error"]

_ERRORS: tuple[tuple[str, str], ...] = (
    (r"TypeError: .*takes \d+ positional arguments? but \d+ (was|were) given", "hook_arguments"),
    (r"TypeError: .*hook.* missing \d+ required positional argument", "hook_arguments"),
    (r"TypeError: .*forward\(\) missing \d+ required positional argument", "drops_argument"),
    (r"TypeError: cannot assign .* (as|object to) parameter", "tensor_for_parameter"),
    (r"AttributeError: '(Tensor|Parameter)' object has no attribute", "unknown_method"),
    (r"(NameError|UnboundLocalError): ", "undefined_name"),
    (r"RuntimeError: a (view of a )?leaf Variable that requires grad", "leaf_in_place"),
    (r"RuntimeError: .*BackwardHookFunction.* is a view and is being modified inplace", "in_place_after_full_hook"),
    (r"RuntimeError: .*(invalid number of grad_input|expected \d+ elements? in grad_input)", "full_hook_return"),
    (r"RuntimeError: .*Backward hook returned an invalid number of grad_input", "full_hook_return"),
    (r"RuntimeError: .*modified by an inplace operation", "overwrites_saved"),
    (r"RuntimeError: Boolean value of Tensor with more than one value", "truth_of_tensor"),
    (r"RuntimeError: (self|mat1) must be a matrix", "matrix_only"),
    (r"RuntimeError: (mat1 and mat2 shapes cannot be multiplied|The size of tensor a)", "shapes_do_not_fit"),
    (r"RuntimeError: element 0 of tensors does not require grad", "gradient_cut"),
    (r"ValueError: some parameters appear in more than one parameter group", "parameter_in_two_groups"),
    (r"AttributeError: cannot assign \w+ before Module.__init__\(\) call", "init_forgotten"),
    (r"NotImplementedError: Module \[Module(List|Dict)\]", "container_without_forward"),
    (r"NotImplementedError", "not_started"),
)


def hint_for_error(kind: str, message: str) -> str | None:
    """The id of the hint for an exception that learner code raised; None where the text fits no known cause."""
    text = f"{kind}: {message}".replace("\n", " ")
    for pattern, hint in _ERRORS:
        if re.match(pattern, text):
            return hint
    return None


def hint_for_difference(
    evidence: Evidence,
    difference: Difference,
    wanted: object,
    mistakes: Mapping[str, object],
    blame: Mapping[str, str],
    poisoned: bool,
) -> str | None:
    """The id of the hint for a wrong result; None where no misconception is certain.

    ``mistakes`` maps hint ids to what that mistake would have brought (fields that a mistake
    leaves out are not compared), ``blame`` maps a field of the result to the one misconception
    that makes it wrong, ``poisoned`` says that the notebook's variables were NaN meanwhile.
    """
    for hint, brought in mistakes.items():
        if _brings(evidence, brought):
            return hint
    if difference.kind == "count" and difference.got == "0 items":
        return "hook_never_ran"
    if difference.kind == "nonfinite" and poisoned:
        return "reads_globals"
    for field, hint in blame.items():
        if re.match(rf"{re.escape(field)}(\[|$)", difference.where):
            return hint
    if _permuted(evidence, wanted):
        return "wrong_order"
    return None


def _brings(evidence: Evidence, brought: object) -> bool:
    if isinstance(brought, Mapping) and isinstance(evidence, dict):
        return all(key in evidence and first_difference(evidence[key], brought[key]) is None for key in brought)
    return first_difference(evidence, brought) is None


def _permuted(got: Evidence, wanted: object) -> bool:
    """Whether one list in the result holds the wanted items in another order."""
    if isinstance(wanted, Mapping) and isinstance(got, dict):
        return any(_permuted(got[key], wanted[key]) for key in wanted if key in got)
    if not isinstance(wanted, (list, tuple)) or not isinstance(got, list) or len(got) != len(wanted):
        return False
    if first_difference(got, wanted) is None or not all(isinstance(item, (TensorRecord, str, int)) for item in got):
        return False
    left = list(wanted)
    for item in got:
        match = next((index for index, other in enumerate(left) if first_difference(item, other) is None), None)
        if match is None:
            return False
        del left[match]
    return True
