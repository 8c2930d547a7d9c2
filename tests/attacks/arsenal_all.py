"""Every attack, by family."""

from __future__ import annotations

from tests.attacks import (
    arsenal_facts,
    arsenal_folder,
    arsenal_notebook,
    arsenal_oracle,
    arsenal_own,
    forger,
)
from tests.attacks.arsenal import Attack, programs

ATTACKS: tuple[Attack, ...] = (
    *programs("verdict", "verdict"),
    *programs("shell", "verdict"),
    *programs("inputs", "inputs"),
    *programs("evidence", "evidence"),
    *arsenal_facts.ATTACKS,
    *programs("answers", "evidence", keeps=True),
    *arsenal_notebook.ATTACKS,
    *arsenal_folder.ATTACKS,
    *forger.ATTACKS,
    *programs("secrets", "secrets", keeps=True),
    *programs("escape", "escape", keeps=True),
    *programs("reach", "escape", keeps=True),
    *programs("resources", "resources", keeps=True),
    *programs("memory", "resources", keeps=True),
    *programs("html", "html", keeps=True),
    *arsenal_own.ATTACKS,
    *arsenal_oracle.ATTACKS,
)

ROWS: dict[str, tuple[str, ...]] = {
    "hide errors": ("errors_are_silent", "run_cell_reports_success", "pre_run_cell_event"),
    "tag and metadata edits": ("tests_tagged_skip_execution", "tests_unlocked_solutions"),
    "delete test cell": ("tests_deleted", "tests_emptied"),
    "always-equal objects": ("answer_equals_all", "lazy_answers"),
    "monkeypatch comparisons": ("comparisons_agree", "judging_passes"),
    "read expected tensors": ("searches_objects", "searches_frames", "reads_history", "pre_run_cell_event"),
    "mutate inputs": ("inputs_changed_in_place",),
    "NaN as wildcard": ("nan_as_wildcard",),
    "hard-coded outputs": ("answers_typed_in", "case_seed_is_one"),
    "read tests, solutions, gradebook": ("reads_the_course", "searches_all_files"),
    "overwrite results": ("atexit_rewrites_results", "verdict_handed_in", "evidence_says_passed"),
    "exit, segfault": ("exits", "exits_with_zero", "segfaults"),
    "infinite loop": ("loop_that_swallows_all", "loop_in_c"),
    "memory bomb": ("memory_by_bytes", "memory_by_children", "memory_of_the_kernel_by_children"),
    "fork bomb": ("fork_bomb", "thread_bomb"),
    "output without end": ("prints_without_end", "displays_without_end", "exception_of_a_gigabyte"),
    "network": ("network",),
    "torch.py in the folder": ("modules_of_its_own", "checking_in_sys_modules"),
    "detect grading": ("right_only_while_practising",),
}
"""Each row of the table of attacks on graders in the project's research, and the attacks here that try it."""
