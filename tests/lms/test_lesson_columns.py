"""Which column of an export is a lesson's: found where it is sure, asked where it is not; nobody's grades go elsewhere."""

from __future__ import annotations

import pytest

from nbproof_lms.grade_files import columns_of

LESSONS = {
    "01_module_anatomy": "What an nn.Module is made of",
    "02_tensor_hooks": "Tensor hooks: watch and change gradients",
    "03_module_hooks": "Hooks on modules",
    "04_apply": "`apply`: one function for every module",
}


def _places(names: list[str], **chosen: str) -> dict[str, str]:
    found = columns_of(
        dict(enumerate(names)), list(LESSONS), LESSONS, {f"0{key[1]}{key[2:]}": v for key, v in chosen.items()}
    )
    return {lesson[:2]: names[column] for lesson, column in found.places.items()}


@pytest.mark.parametrize(
    "names",
    [
        [
            "Lesson 1: Module anatomy (991201)",
            "Lesson 2: Tensor hooks (2)",
            "Lesson 3: Module hooks (3)",
            "Lesson 4: apply (4)",
        ],
        ["HW1 (5)", "HW2 (6)", "HW3 (7)", "HW4 (8)"],
        ["Assignment 01", "Assignment 02", "Assignment 03", "Assignment 04"],
        ["Module anatomy", "Assignment: Tensor hooks (Real)", "Module hooks", "Apply"],
    ],
)
def test_a_lesson_is_found_by_number_and_by_words(names: list[str]) -> None:
    noise = ["Quiz 1: Module anatomy (1)", "Attendance", "Exam 2 (77)", "Final Score", ""]
    assert list(_places([*names, *noise]).values()) == names
    assert list(_places([*noise, *names]).values()) == names


@pytest.mark.parametrize(
    ("names", "unclear"),
    [
        (["Lesson 1", "Homework 1"], {"01_module_anatomy": ("Lesson 1", "Homework 1")}),
        (["Module anatomy, part one", "Module anatomy, part two"],
         {}),
        (["Quiz 1 (4)", "Exam", "Lesson 2: Module anatomy", "Points 1"], {}),
        (["1"], {}),
    ],
)  # fmt: skip
def test_what_is_not_sure_is_asked(names: list[str], unclear: dict[str, tuple[str, ...]]) -> None:
    found = columns_of(dict(enumerate(names)), ["01_module_anatomy"], LESSONS, {})
    assert (found.places, found.unclear) == ({}, unclear)


def test_a_person_s_word_comes_first() -> None:
    names = ["Lesson 1 (4711)", "Lesson 2 (4712)", "Intro (7)"]
    assert _places(names, l1_module_anatomy="Intro") == {"01": "Intro (7)", "02": "Lesson 2 (4712)"}
    assert _places(names, l2_tensor_hooks="lesson 1 (4711)") == {"02": "Lesson 1 (4711)"}
