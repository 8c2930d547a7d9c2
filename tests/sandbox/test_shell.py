"""Cells as IPython reads them, and plain Python at once."""

from __future__ import annotations

import ast
from unittest.mock import patch

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell

from nbproof.sandbox.shell import Shell, plain_python

CELLS = {
    "magic": "%time x = 1",
    "system": "found = !ls\nlen(found)",
    "cell magic": "%%capture out\nprint(1)",
    "question": "len?",
    "prompts of a shell": ">>> x = 1\n>>> x",
    "a prompt that could be an annotation": "In [1]: x = 5",
    "such a prompt below a comment": "# pasted\nIn [2]: x = 5",
    "a whole cell that is moved to the right": "    x = 1\n    x",
    "blank lines first": "\n\n  \nx = 1",
    "Python": "x = {\n    'a': 1}\nawait f(x)",
    "a magic within a text": 's = """\n%time x\n!ls\n"""',
    "no Python at all": "x = = 1",
}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_what_is_taken_as_it_stands_means_what_ipython_makes_of_it(cell: str) -> None:
    ours, ipythons = plain_python(cell), TransformerManager().transform_cell(cell)
    assert not ours or ast.dump(ast.parse(ours)) == ast.dump(ast.parse(ipythons))


def test_only_plain_python_is_taken_as_it_stands() -> None:
    taken = {name for name, cell in CELLS.items() if plain_python(cell)}
    assert taken == {"blank lines first", "Python", "a magic within a text"}


def test_a_cell_with_blank_lines_without_end_is_not_read_one_by_one() -> None:
    cell = "x = 1" + "\n\t" * 1000 + "\n#" * 1000
    with patch.object(InteractiveShell, "transform_cell", side_effect=AssertionError("read line by line")):
        assert Shell.transform_cell(Shell.__new__(Shell), cell) == f"{cell}\n"
