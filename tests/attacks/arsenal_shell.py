"""Attacks on the verdict by what surrounds it: the shell, the importer, the interpreter, the exit status."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import cell_attack

_verdict = partial(cell_attack, "verdict")

ATTACKS = [
    _verdict(
        "showtraceback_is_silent",
        "silences IPython's tracebacks, so that no error shows",
        """
from IPython.core.interactiveshell import InteractiveShell
shell = get_ipython()
InteractiveShell.showtraceback = InteractiveShell._showtraceback = lambda *a, **k: None
type(shell)._showtraceback = type(shell).showtraceback = lambda *a, **k: None
shell.set_custom_exc((Exception,), lambda *a, **k: None)
""",
    ),
    _verdict(
        "run_cell_reports_success",
        "makes the shell report success for whatever it runs",
        """
shell = get_ipython()
from IPython.core.interactiveshell import ExecutionResult
def fine(*a, **k):
    return ExecutionResult(None)
type(shell).run_cell = fine
if hasattr(shell, "run_cell_async"):
    async def fine_async(*a, **k):
        return ExecutionResult(None)
    type(shell).run_cell_async = fine_async
""",
    ),
    _verdict(
        "kernel_replies_ok",
        "makes the kernel reply ok to whatever it is asked to execute",
        """
shell = get_ipython()
kernel = getattr(shell, "kernel", None)
if kernel is not None:
    async def fine(*a, **k):
        return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
    type(kernel).do_execute = fine
""",
    ),
    _verdict(
        "checking_in_sys_modules",
        "puts a module of its own in sys.modules in place of nbproof.checks.check",
        """
import sys, types
fake = types.ModuleType("nbproof.checks.check")
class Check: pass
fake.Check, fake.check, fake.listing = Check, (lambda *a, **k: None), None
for name in ("nbproof.checks.check", "nbproof.values.compare", "course.probing", "nbproof.values.evidence"):
    sys.modules[name] = fake
""",
    ),
    _verdict(
        "import_hook",
        "forgets course's modules and answers the next import of them itself",
        """
import sys, importlib.abc, importlib.machinery
class Loader(importlib.abc.Loader):
    def create_module(self, spec): return None
    def exec_module(self, module):
        module.__getattr__ = lambda name: type(name, (), {}) if name[0].isupper() else (lambda *a, **k: None)
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("course."): return importlib.machinery.ModuleSpec(name, Loader())
for name in [n for n in sys.modules if n.startswith("course.")]: del sys.modules[name]
sys.meta_path.insert(0, Finder())
""",
    ),
    _verdict(
        "builtins_lie",
        "patches isinstance, len, getattr, all, any and AssertionError in builtins",
        """
import builtins
builtins.all = lambda *a: True
builtins.any = lambda *a: False
builtins.AssertionError = type("Fine", (BaseException,), {})
builtins.compile = lambda *a, **k: (lambda: None).__code__
""",
    ),
    _verdict(
        "ast_transformer",
        "an AST transformer drops every raise, assert and call of check",
        """
import ast
class Drop(ast.NodeTransformer):
    def visit_Expr(self, node):
        call = node.value
        return ast.Pass() if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "check" else node
    visit_Assert = visit_Raise = lambda self, node: ast.Pass()
get_ipython().ast_transformers.append(Drop())
""",
    ),
    _verdict(
        "input_transformer",
        "an input transformer replaces the text of later cells by pass",
        """
get_ipython().input_transformers_cleanup.append(lambda lines: ["pass\\n"])
get_ipython().input_transformers_post.append(lambda lines: ["pass\\n"])
""",
    ),
    _verdict(
        "pre_run_cell_event",
        "an event handler patches the checks right before each later cell",
        """
def patch(info=None):
    import nbproof.checks.check
    nbproof.checks.check.check = lambda *a, **k: None
    if info is not None: info.raw_cell = "pass"
get_ipython().events.register("pre_run_cell", patch)
get_ipython().events.register("pre_execute", lambda: patch())
""",
    ),
    _verdict(
        "emits_five_points",
        "shows the result 5 at the start of every later cell, which nbgrader takes for points",
        """
shell = get_ipython()
def five(info=None):
    shell.displayhook(5)
    answer_is_here = 5
shell.events.register("pre_run_cell", five)
""",
    ),
    _verdict(
        "exits_with_zero",
        "raises SystemExit(0) from the hook while the check runs",
        """
def tensor_hook(grad):
    raise SystemExit(0)
model = Model(); model.W.register_hook(tensor_hook)
def leave(): raise SystemExit(0)
""",
    ),
    _verdict(
        "exits_the_process_with_zero",
        "ends the process with status 0 from the hook, as if all had gone well",
        """
import os
def tensor_hook(grad):
    os._exit(0)
model = Model(); model.W.register_hook(tensor_hook)
""",
        expects=("killed",),
        keeps=True,
    ),
    _verdict(
        "excepthook",
        "replaces sys.excepthook, sys.displayhook and threading's hook",
        """
import sys, threading
sys.excepthook = sys.displayhook = sys.unraisablehook = threading.excepthook = lambda *a: None
""",
    ),
    _verdict(
        "trace_rewrites_locals",
        "a trace function changes local variables of the checks while they run",
        """
import sys, ctypes
def trace(frame, event, arg):
    if frame.f_code.co_name in ("decide", "judge", "_run", "check"):
        for name in ("difference", "finding", "wrong"):
            if name in frame.f_locals:
                frame.f_locals[name] = None
                ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
    return trace
sys.settrace(trace)
""",
    ),
    _verdict(
        "atexit_rewrites_results",
        "writes results files where graders keep them, now and at exit",
        """
import atexit, os, json
def write():
    for name in (".verdict.json", "results.json", "results/results.json", "../.verdict.json", "results.pkl"):
        try:
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            with open(name, "w") as file: json.dump({"score": 12, "verdict": {"score": 12}}, file)
        except OSError: pass
write(); atexit.register(write)
""",
    ),
]
