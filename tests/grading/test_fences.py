"""Code between marks in a text cell: it is its exercise's answer, or a person is told to look; it is never passed over."""

from __future__ import annotations

import json

import pytest

from nbproof.authoring.simulate import as_handed_in as without_head
from nbproof.marking.marker import answers_in
from tests.grading.test_written_elsewhere import _lesson, _notebook, _text, _todo


@pytest.mark.parametrize("slug", ["03_module_hooks", "04_apply"])
def test_code_in_a_text_cell_is_recovered_or_told_for_every_exercise(slug: str) -> None:
    lesson, blueprint = _lesson(slug)
    for exercise in lesson.exercises:
        answer = without_head(next(one for one in exercise.candidates if one.role == "accepted"))
        notebook = _notebook(slug)
        notebook["cells"].insert(_todo(notebook["cells"], exercise.id) + 1, _text(f"```python\n{answer}\n```"))
        found = answers_in(blueprint, json.dumps(notebook).encode())
        assert (found.answers[exercise.id].strip() == answer.strip()) != (exercise.id in found.lost)
        others = {name: text for name, text in found.answers.items() if name in blueprint.stubs and name != exercise.id}
        assert others == {name: blueprint.stubs[name] for name in others}
