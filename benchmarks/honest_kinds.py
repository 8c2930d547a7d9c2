"""The ways in which people write a right notebook otherwise than answer by answer: each a kind of honest notebook.

A kind works on one exercise of a draft; a notebook has all its exercises worked on in one kind. What a kind cannot
take apart is handed in as it is.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Callable
from dataclasses import replace

from benchmarks.honest_draft import Draft, Helped, helped, is_definition, statements

__all__ = ["KINDS"]

Kind = Callable[[Draft, str, str], None]
"""(draft, exercise, right answer): works the exercise into the draft."""

_IMPORTS = (
    "import contextlib, copy, math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    "from contextlib import ExitStack, contextmanager\nfrom functools import partial\nfrom torch.nn import Parameter"
)
"""What a file needs whose functions were written for a lesson."""


def _with_helper(
    place: Callable[[Draft, str, Helped], None], call: str = "{helper}({arguments})", name_of: str = "help_{name}"
) -> Kind:
    """A kind: the answer calls a helper, which ``place`` puts somewhere."""

    def made(draft: Draft, name: str, text: str) -> None:
        found = helped(text, name_of.format(name=name), call)
        draft.todo(name, text if found is None else found.whole)
        if found is not None:
            place(draft, name, found)

    return made


def _helper_below(draft: Draft, name: str, found: Helped) -> None:
    draft.todo(name, found.answer)
    draft.below(name, found.helper, *([found.rest] if found.rest else []))


def _helper_in_previous(draft: Draft, name: str, found: Helped) -> None:
    if draft.done:
        before = draft.done[-1]
        draft.todo(before, f"{draft.text(before)}\n\n\n{found.helper}")
    else:
        draft.above(name, found.helper)


def _import_in_setup(draft: Draft, name: str, found: Helped) -> None:
    draft.setup("import operator as ops")
    draft.above(name, found.helper)


def _environment(draft: Draft, name: str, found: Helped) -> None:
    draft.todo(name, f"import os\n{found.whole}")
    draft.above(name, found.helper, "import os as system\nsystem.environ['MINE'] = '1'")


def _once(draft: Draft, text: str) -> None:
    if all(cell["source"] != text for cell in draft.notebook.cells):
        draft.top(text)


def _with_value(above: str, call: str, top: bool = False) -> Kind:
    """A kind: the answer's call of its helper needs names that another cell binds."""

    def place(draft: Draft, name: str, found: Helped) -> None:
        if top:
            _once(draft, above.format(name=name))
        else:
            draft.above(name, above.format(name=name))
        draft.above(name, found.helper)

    return _with_helper(place, call)


def _stub_and_below(draft: Draft, name: str, text: str) -> None:
    draft.below(name, text)


def _stub_and_cells_below(draft: Draft, name: str, text: str) -> None:
    draft.below(name, *statements(text))


def _cells_above(draft: Draft, name: str, text: str) -> None:
    draft.above(name, *statements(text))
    draft.todo(name, "# done above")


def _all_but_last_above(draft: Draft, name: str, text: str) -> None:
    *first, last = statements(text)
    draft.above(name, *first)
    draft.todo(name, last)


def _last_below(draft: Draft, name: str, text: str) -> None:
    *first, last = statements(text)
    draft.todo(name, "\n\n\n".join(first) if first else last)
    draft.below(name, *([last] if first else []))


def _doings_below(draft: Draft, name: str, text: str) -> None:
    """Definitions in the TODO cell, all that works on them below."""
    parts = statements(text)
    cut = next((i for i, one in enumerate(parts) if is_definition(one)), 0) + 1
    draft.todo(name, "\n\n\n".join(parts[:cut]))
    draft.below(name, *parts[cut:])


def _class_over_cells(draft: Draft, name: str, text: str) -> None:
    """The last method of a class is put on it in a cell below."""
    tree = ast.parse(text)
    for node in tree.body:
        last = node.body[-1] if isinstance(node, ast.ClassDef) else None
        if isinstance(node, ast.ClassDef) and isinstance(last, ast.FunctionDef) and len(node.body) > 1:
            uses = {part.id for part in ast.walk(last) if isinstance(part, ast.Name)}
            if uses & {"super", "__class__"} or last.decorator_list:
                continue
            node.body.remove(last)
            given = last.name
            last.name = f"{node.name.lower()}_{given.strip('_')}"
            at = tree.body.index(node)
            draft.todo(name, "\n".join(ast.unparse(one) for one in tree.body[: at + 1]))
            rest = "\n".join(ast.unparse(one) for one in tree.body[at + 1 :])
            put = f"{node.name}.{given} = {last.name}"
            draft.below(name, ast.unparse(last), put, *([rest] if rest else []))
            return
    draft.todo(name, text)


def _subclass_below(draft: Draft, name: str, text: str) -> None:
    parts = statements(text)
    classes = [one.name for part in parts for one in ast.parse(part).body if isinstance(one, ast.ClassDef)]
    draft.todo(name, text)
    if classes and not any("super(" in part and classes[-1] + "," in part for part in parts):
        draft.below(name, f"class {classes[-1]}({classes[-1]}):\n    '''Now with a name.'''\n    title = {name!r}")


def _with_text(change: Callable[[str], str], above: str = "", below: str = "", top: str = "", end: str = "") -> Kind:
    """A kind: the answer's text changed, and cells around it."""

    def made(draft: Draft, name: str, text: str) -> None:
        draft.todo(name, change(text))
        if top:
            _once(draft, top)
        if above:
            draft.above(name, *above.format(name=name).split("\n---\n"))
        if below:
            draft.below(name, *below.format(name=name).split("\n---\n"))
        if end:
            draft.below(
                f"test_{name}" if _has(draft, f"test_{name}") else name, *end.format(name=name).split("\n---\n")
            )

    return made


def _has(draft: Draft, name: str) -> bool:
    return any(cell.metadata.get("nbgrader", {}).get("grade_id") == name for cell in draft.notebook.cells)


def _same(text: str) -> str:
    return text


def _file(draft: Draft, path: str, text: str) -> None:
    draft.files[path] = f"{draft.files.get(path, _IMPORTS)}\n\n\n{text}\n"


def _names_in(source: str) -> tuple[set[str], set[str]]:
    """The global names that a text needs, in its functions as well, and those that it binds."""
    needs: set[str] = set()
    binds: set[str] = set()
    for statement in ast.parse(source).body:
        tables = [symtable.symtable(ast.unparse(statement), "<cell>", "exec")]
        bound = {one.get_name() for one in tables[0].get_symbols() if one.is_assigned() or one.is_imported()}
        for table in tables:  # which grows meanwhile
            tables += table.get_children()
            used = {one.get_name() for one in table.get_symbols() if one.is_referenced() and one.is_global()}
            needs |= used - binds - bound
        binds |= bound
    return needs, binds


def _stands_alone(found: Helped) -> bool:
    """Whether the helper needs nothing of the notebook, so that it can move to a file."""
    return _names_in(found.helper)[0] <= _names_in(_IMPORTS)[1] | set(dir(builtins))


def _helper_in_file(path: str, cell: str) -> Kind:
    def place(draft: Draft, name: str, found: Helped) -> None:
        if not _stands_alone(found):
            draft.above(name, found.helper)
            return
        _file(draft, path, found.helper)
        if cell.startswith("once:"):
            _once(draft, cell[5:])
        else:
            draft.above(name, *cell.format(name=name, helper=found.name).split("\n---\n"))

    return _with_helper(place)


def _written_file(cell: str) -> Kind:
    """A kind: a cell writes the module with the helper, and the next one imports it."""

    def place(draft: Draft, name: str, found: Helped) -> None:
        if not _stands_alone(found):
            draft.above(name, found.helper)
            return
        text = f"{_IMPORTS}\n\n\n{found.helper}"
        draft.above(name, cell.format(name=name, text=text, quoted=repr(text)), f"from mine_{name} import {found.name}")

    return _with_helper(place)


def _shown_names(draft: Draft, name: str, text: str) -> None:
    """The answer uses a name of the nearest demo above that binds one at its top."""
    cells = draft.notebook.cells[: draft.at(name)]
    for cell in reversed(cells):
        if cell.cell_type != "code" or cell.metadata.get("nbgrader") or not cell.get("id"):
            continue
        try:
            body = ast.parse(cell.source).body
        except SyntaxError:
            continue
        bound = [
            target.id for one in body if isinstance(one, ast.Assign) for target in one.targets
            if isinstance(target, ast.Name)
        ]  # fmt: skip
        if bound:
            draft.todo(name, f"kept_{name} = {bound[-1]}\n{text}\n\n\nassert kept_{name} is not ...")
            return
    draft.todo(name, text)


def _carried(draft: Draft, name: str, text: str) -> None:
    """What the answer calls, an own cell has put into a dict which the first exercise made."""
    found = helped(text, f"help_{name}", f"carried['{name}']({{arguments}})")
    if found is None:
        draft.todo(name, text if draft.done else f"carried = {{}}\n{text}")
        return
    draft.todo(name, found.whole if draft.done else f"carried = {{}}\n{found.whole}")
    fill = f"carried[{name!r}] = help_{name}"
    if draft.done:
        draft.above(name, found.helper, fill)
    else:
        draft.todo(name, f"carried = {{}}\n{found.helper}\n{fill}\n{found.whole}")


def _from_before(draft: Draft, name: str, text: str) -> None:
    """Each answer needs a number which the one before has left."""
    before = f"count = count_{draft.done[-1]} + 1\nassert count == {len(draft.done)}\n" if draft.done else "count = 0\n"
    draft.todo(name, f"{before}count_{name} = count\n{text}")


def _shared_hooks(draft: Draft, name: str, text: str) -> None:
    """An own cell behind an exercise's check binds what the next one needs."""
    if draft.done:
        draft.todo(name, f"assert solved[-1] == {draft.done[-1]!r}\n{text}")
    else:
        draft.todo(name, f"solved = []\n{text}")
    draft.below(f"test_{name}" if _has(draft, f"test_{name}") else name, f"solved.append({name!r})\nprint(solved)")


_BROKEN = (
    "print(no_such_name)\n---\ndef half(:\n    pass\n---\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);\n---\n1 / 0"
    "\n---\nfor i in range(3):\n    print(i)"
)
_WALRUS = "(lambda value: value)({helper}({arguments})) if (flag_is := True) else None"

KINDS: dict[str, Kind] = {
    "as handed out": lambda draft, name, text: draft.todo(name, text),
    "helper above": _with_helper(lambda draft, name, found: draft.above(name, found.helper)),
    "helper below": _with_helper(_helper_below),
    "helper at the top": _with_helper(lambda draft, name, found: draft.top(found.helper)),
    "helper in the exercise before": _with_helper(_helper_in_previous),
    "helper in a demo": _with_helper(lambda draft, name, found: draft.edit_shown(name, found.helper)),
    "helper in the setup cell": _with_helper(lambda draft, name, found: draft.setup(found.helper)),
    "one name for all helpers": _with_helper(
        lambda draft, name, found: draft.above(name, found.helper), name_of="my_helper"
    ),
    "import at the top": _with_value("import operator as ops", "ops.call({helper}, {arguments})", top=True),
    "import above": _with_value("from operator import call as call_it", "call_it({helper}, {arguments})"),
    "import in the setup cell": _with_helper(_import_in_setup, "ops.call({helper}, {arguments})"),
    "import below": _with_helper(
        lambda draft, name, found: _helper_below(draft, name, replace(found, rest=f"import operator as ops\n{found.rest}")),
        "ops.call({helper}, {arguments})",
    ),
    "star import": _with_value("from operator import *", "call({helper}, {arguments})"),
    "constants above": _with_value("ONE_{name} = 1\nLIST_{name} = [0, 1]", "[{helper}({arguments}) for _ in range(1)][0]"),
    "class over cells": _class_over_cells,
    "subclass below": _subclass_below,
    "stub, answer below": _stub_and_below,
    "stub, answer in cells below": _stub_and_cells_below,
    "answer in cells above": _cells_above,
    "all but the last statement above": _all_but_last_above,
    "last statement below": _last_below,
    "all but definitions below": _doings_below,
    "names of a demo": _shown_names,
    "number from the exercise before": _from_before,
    "dict filled by own cells": _carried,
    "list filled behind the checks": _shared_hooks,
    "scratch cells that fail": _with_text(_same, above=_BROKEN, below=_BROKEN, end=_BROKEN),
    "scratch cells that rebind": _with_text(
        _same, above="x = 3\nresult = None\n---\nmodel_copy = 4\nh = hook = 'mine'", end="answer = 17\nx = y = None"
    ),
    "scratch cells that try it": _with_text(
        _same, below="probe_me = torch.ones(3, requires_grad=True)\n(probe_me * 2).sum().backward()\nprint(probe_me.grad)"
    ),
    "shell and magics": _with_text(lambda text: f"%matplotlib inline\n!ls\n{text}", above="%pwd\n---\n!echo hello"),
    "%%time": _with_text(lambda text: f"%%time\n{text}"),
    "%%capture": _with_text(lambda text: f"%%capture said\n{text}", below="said.show()"),
    "magics of a front end": _with_text(
        lambda text: f"%matplotlib widget\n%load_ext no_such_extension\n{text}",
        above="%config InlineBackend.figure_format = 'svg'",
    ),
    "missing packages": _with_text(
        lambda text: f"import no_such_package_a\nfrom no.such_b import thing\n{text}", above="import seaborn_that_is_not as sns"
    ),
    "%run a file": _helper_in_file("mine.py", "%run mine.py"),
    "import a file": _helper_in_file("mine.py", "from mine import {helper}"),
    "star import of a file": _helper_in_file("mine.py", "once:from mine import *"),
    "import a file in a folder": _helper_in_file("lib/mine.py", "import sys\nsys.path.append('lib')\nfrom mine import {helper}"),
    "path of a file in a cell of its own": _helper_in_file(
        "lib/mine.py", "import sys\nsys.path.insert(0, 'lib')\n---\nfrom mine import {helper}"
    ),
    "exec of a file": _helper_in_file("mine.py", "exec(open('mine.py').read())"),
    "%%writefile": _written_file("%%writefile mine_{name}.py\n{text}"),
    "file written with open": _written_file("with open('mine_{name}.py', 'w') as file:\n    file.write({quoted})"),
    "exec": _with_helper(lambda draft, name, found: draft.above(name, f"exec({found.helper!r})")),
    "globals()": _with_helper(
        lambda draft, name, found: draft.above(name, found.helper), "globals()['{helper}']({arguments})"
    ),
    "globals().update": _with_helper(
        lambda draft, name, found: draft.above(
            name, f"def make():\n    {found.helper.replace(chr(10), chr(10) + '    ')}\n    return {found.name}",
            f"globals().update({found.name}=make())",
        )
    ),
    "__main__": _with_helper(
        lambda draft, name, found: draft.above(name, found.helper), "__import__('__main__').{helper}({arguments})"
    ),
    "method put on nn.Module": _with_helper(
        lambda draft, name, found: draft.above(name, found.helper, f"nn.Module.{found.name} = staticmethod({found.name})"),
        "nn.Module.{helper}({arguments})",
    ),
    "function put on a module": _with_helper(
        lambda draft, name, found: draft.above(name, f"{found.helper}\nF.{found.name} = {found.name}"),
        "F.{helper}({arguments})",
    ),
    "environment": _with_helper(_environment, "[{helper}({arguments}) for _ in range(int(os.environ['MINE']))][0]"),
    "decorator": _with_value(
        "from functools import wraps\ndef same(function):\n    @wraps(function)\n    def wrapped(*a, **k):\n"
        "        return function(*a, **k)\n    return wrapped",
        "same({helper})({arguments})",
    ),
    "lambda and walrus": _with_value("flag = True", _WALRUS),
    "nested functions and global": _with_value(
        "counted = 0\ndef count_up():\n    global counted\n    def one():\n        return 1\n    counted += one()\n"
        "    return counted",
        "count_up() and {helper}({arguments})",
    ),
    "match and async": _with_value(
        "import asyncio\nawait asyncio.sleep(0)\ndef chosen(value):\n    match value:\n        case [one, *_]:\n"
        "            return one\n        case _:\n            return None",
        "chosen([{helper}({arguments})])",
    ),
    "class as a namespace": _with_helper(
        lambda draft, name, found: draft.above(
            name, "class Tools:\n    pass", found.helper, f"Tools.work = staticmethod({found.name})"
        ),
        "Tools.work({arguments})",
    ),
    "instance filled by a cell": _with_helper(
        lambda draft, name, found: draft.above(
            name, "from types import SimpleNamespace\nbox = SimpleNamespace()", found.helper, f"box.{found.name} = {found.name}"
        ),
        "box.{helper}({arguments})",
    ),
    "helper filled through an alias": _with_helper(
        lambda draft, name, found: draft.above(
            name, "table = {}\nsame_table = table", found.helper, f"same_table['it'] = {found.name}"
        ),
        "table['it']({arguments})",
    ),
    "helper registered by a decorator": _with_helper(
        lambda draft, name, found: draft.above(
            name, "table = {}\ndef register(function):\n    table[function.__name__] = function\n    return function",
            f"@register\n{found.helper}",
        ),
        "table['{helper}']({arguments})",
    ),
    "helper of a loop": _with_helper(
        lambda draft, name, found: draft.above(
            name, found.helper, f"for one in [{found.name}]:\n    chosen = one", "with torch.no_grad():\n    picked = chosen"
        ),
        "picked({arguments})",
    ),
}  # fmt: skip
"""By their names."""
