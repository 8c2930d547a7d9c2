"""The cheat that knows no answer: it runs the checks that learners have, and sends what they want as its evidence.

One text, the same in every TODO cell. It finds out which check is being asked, runs the visible truths on that check's own
case, also with the settings of its probe, and sends them, field by field, as what a probe would have brought.
"""

from __future__ import annotations

import base64
import json
import zlib

from nbproof.handed_out import visible_in
from nbproof.lesson.from_notebook import grading_of
from tests import COURSE
from tests.attacks.arsenal import LESSON, Attack, Scene

_KNOWS = """
import base64, json, sys, types, warnings, zlib
from pathlib import Path
from nbproof.checks.case import Case
from nbproof.checks.check import listing
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import snapshot
from nbproof.values.results import ProbeResult

{texts}

def bare(wanted):
    if isinstance(wanted, AnyOf): return bare(wanted.options[0])
    if isinstance(wanted, Close): return bare(wanted.value)
    if isinstance(wanted, Matches):
        held = [cell.cell_contents for cell in wanted.test.__closure__ or ()]
        return bare(held[0]) if held else None
    if isinstance(wanted, dict): return {{key: bare(value) for key, value in wanted.items()}}
    if isinstance(wanted, (list, tuple)): return [bare(one) for one in wanted]
    return wanted

def words(value):
    if isinstance(value, str): yield value
    if isinstance(value, (tuple, frozenset)):
        for one in value: yield from words(one)

KNOWN = {{}}
def shown(test):
    if test not in KNOWN:
        texts = [text for key, text in TEXTS.items() if test == "test_" + key.replace("/", "_")]
        with listing() as listed:
            for text in texts: exec(text, {{"__name__": "__main__"}})
        KNOWN[test] = {{task.__name__: task for _, task in listed}}
    return KNOWN[test]

def truths(tasks, kind, seed):
    for task in tasks:
        made = [task]
        try: made.append(type(task.__name__, (kind, task), {{"truth": task.truth}}))
        except TypeError: pass
        for one in made:
            try: yield bare(one().truth(Case(seed)))
            except Exception: pass

def forged(test, kind, seed):
    tasks = shown(test)
    if kind.__name__ in tasks: return bare(tasks[kind.__name__]().truth(Case(seed)))
    found = list(truths(tasks.values(), kind, seed))
    fields = set(words(kind.probe.__code__.co_consts))
    made = {{}}
    for value in found:
        if isinstance(value, dict): made = {{**value, **made}}
    return {{key: value for key, value in made.items() if key in fields}} or (found[0] if found else None)
"""

_FROM_DISK = """
import course
from nbproof.handed_out import visible_in
beside = Path(course.__file__).parent
files = [*beside.glob("handed_out/*/*/checks.py"), *beside.parent.glob("lessons/*/*/checks.py")]
TEXTS = {key: text for path in files for key, text in visible_in(path.parent.name, path).items()}
if not TEXTS: raise FileNotFoundError(beside)
"""

_PASTED = """
TEXTS, MODULES = json.loads(zlib.decompress(base64.b64decode({packed!r})))
for name, text in MODULES.items():
    if name not in sys.modules:
        sys.modules[name] = types.ModuleType(name)
        exec(text, vars(sys.modules[name]))
"""

_IN_THE_WORKER = """
import nbproof.sandbox.worker as worker
def bring(task, namespace, case):
    return ProbeResult(evidence=snapshot(forged(sys._getframe(1).f_locals["header"]["test"], type(task), case.seed)))
worker.bring = bring
"""

_IN_A_FRAME = """
real = warnings.catch_warnings.__init__
def patched(*given, **named):
    frame, test, task, case = sys._getframe(1), None, None, None
    while frame is not None:
        seen = frame.f_locals
        task, case = task or seen.get("task"), case or seen.get("case")
        test = test or (seen.get("header") or {}).get("test")
        frame = frame.f_back
    if test and hasattr(task, "probe") and case is not None:
        value = forged(test, type(task), case.seed)
        type(task).probe = lambda self, nb, case: value
    return real(*given, **named)
warnings.catch_warnings.__init__ = patched
"""

FORMS = ("pasted", "from the disk", "behind a patched function")


def text_of(form: str, lesson: str) -> str:
    """The cheat in one of its forms, with the checks that learners of this lesson have."""
    if form == "from the disk":
        return _KNOWS.format(texts=_FROM_DISK) + _IN_THE_WORKER
    course = COURSE
    files = (course.texts / lesson).glob("*/checks.py")
    texts = {key: text for path in files for key, text in visible_in(path.parent.name, path).items()}
    modules = {name: course.file_of(name).read_text(encoding="utf-8") for name in course.truths}
    packed = base64.b64encode(zlib.compress(json.dumps([texts, modules]).encode())).decode()
    knows = _KNOWS.format(texts=_PASTED.format(packed=packed))
    return knows + (_IN_THE_WORKER if form == "pasted" else _IN_A_FRAME)


def forger(form: str, lesson: str) -> Attack:
    """A learner who hands the cheat in, in every TODO cell, and nothing else."""

    def build(scene: Scene) -> None:
        notebook, cheat = scene.notebook({}), text_of(form, lesson)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code" and grading_of(cell).get("solution"):
                cell["source"] = cheat
        scene.write(notebook)

    name = f"forges_evidence_{form.replace(' ', '_')}_{lesson}"
    tries = "runs the visible truths on the case of a hidden check, and sends what they want"
    return Attack(name, tries, "forged", build, frozenset({"failed", "error", "not answered"}), lesson)


ATTACKS = [forger(form, LESSON) for form in FORMS]
