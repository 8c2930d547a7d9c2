"""Attacks that would read their verdict and try again, and attacks that catch a hidden check and bring it out.

The tricks catch the text of a hidden check in the process that runs it, and bring it out.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.attacks.arsenal import HONEST, WRONG, Attack, attack, programs

CATCH = """
import builtins, sys, threading, time
CAUGHT = builtins.__dict__.setdefault("CAUGHT", [])
def note(text):
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if isinstance(text, str) and "def probe(self" in text and text not in CAUGHT:
        CAUGHT.append(text)
def look(frame):
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict):
                note(value.get("source"))
            note(value)
        frame = frame.f_back
"""
CATCHERS = {
    "compile": "kept = builtins.compile\ndef patched(source, *a, **k):\n    note(source)\n    return kept(source, *a, **k)\n"
    "builtins.compile = patched",
    "trace": "def trace(frame, event, argument):\n    if frame.f_code.co_name in ('<module>', 'probe'): look(frame)\n    return None\nsys.settrace(trace)",
    "frames": "kept = builtins.len\ndef patched(value):\n    look(sys._getframe(1))\n    return kept(value)\nbuiltins.len = patched",
    "meta path": "class Finder:\n    def find_spec(self, *a, **k):\n        look(sys._getframe(1))\n"
    "sys.meta_path.insert(0, Finder())\nimport nbproof.sandbox.worker as worker\n"
    "worker._pristine.restore = lambda: sys.modules.pop('nbproof.checks.check', None)",
    "the line": "import nbproof.sandbox.wire as wire\nkept = wire.receive\ndef patched(*a, **k):\n    header, data = kept(*a, **k)\n"
    "    note(header.get('source'))\n    return header, data\nwire.receive = patched",
    "a thread": "def watch():\n    while True:\n        for frame in list(sys._current_frames().values()): look(frame)\n"
    "        time.sleep(0.0005)\nthreading.Thread(target=watch, daemon=True).start()",
}  # fmt: skip

SAY = """
import base64, builtins, zlib
def secret():
    text = "\\n".join(builtins.__dict__.get("CAUGHT", []))
    return text[max(0, text.rfind("class ")):]
def a_line():
    return next((line.strip() for line in secret().splitlines() if " case." in line), secret()[-60:])
"""
_SPLIT = """
import lzma
SPLIT = builtins.__dict__.get("SPLIT") or (lzma.compress(secret().encode()).hex() if secret() else "")
builtins.SPLIT = SPLIT
"""
"""Half of which is worth nothing: it cannot be opened."""
ROUTES = {
    "base64": "print(base64.b64encode(zlib.compress(secret().encode())).decode())",
    "numbers": "print(list(secret().encode()))",
    "an error": "raise ValueError(secret())",
    "a picture": "from PIL import Image\nfrom IPython.display import display\ndata = secret().encode() or b'x'\n"
    "display(Image.frombytes('L', (len(data), 1), data))",
    "a display": "from IPython.display import display\n"
    "display({'text/plain': secret(), 'text/html': secret()}, raw=True, metadata={secret(): secret()})",
    "the source line of an error": "import linecache\nline = 'raise ValueError  # ' + base64.b64encode(zlib.compress(secret().encode())).decode()\n"
    "linecache.cache['<told>'] = (len(line), None, [line], '<told>')\nexec(compile(line, '<told>', 'exec'))",
    "an atexit function": "import atexit\natexit._clear()\natexit.register(lambda: print(secret()[::-1]))\natexit._run_exitfuncs()\n"
    "atexit.register(lambda: print(secret()[::-1]))",
    "a fork that outlives its cell": """
import os
def lives_on(hears, tells):
    known = b""
    while data := os.read(hears, 65536):
        known = data
        os.write(tells, known[::-1])
    for descriptor in range(3, 64):  # its parent has ended: to whoever may still listen
        try: os.write(descriptor, known)
        except OSError: pass
if "CHILD" not in builtins.__dict__:
    (hears, told), (reads, tells) = os.pipe(), os.pipe()
    if os.fork() == 0:
        try:
            os.close(told)
            lives_on(hears, tells)
        finally: os._exit(0)
    os.close(hears); os.close(tells)
    builtins.CHILD = told, reads
os.write(builtins.CHILD[0], secret().encode() or b"x")
print(os.read(builtins.CHILD[1], 65536).decode())
""",
    "an IPython event": "for event in ('post_execute', 'post_run_cell', 'pre_execute', 'pre_run_cell'):\n"
    "    get_ipython().events.register(event, lambda *given: print(secret()[::-1]))",
    "a display formatter": "formatters = get_ipython().display_formatter.formatters\n"
    "formatters['text/plain'].for_type(int, lambda value, pretty, cycle: pretty.text(secret()[::-1]))\n"
    "formatters['text/html'].for_type(int, lambda value: secret())\n7",
}
INSIDE = {
    "an error inside": "raise ValueError(secret())",
    "a text": "return secret()",
    "the numbers of a tensor": "if getattr(x, 'ndim', 0) != 2: return right(x, *rest)\n    import torch\n"
    "    text = a_line().replace(' ', '').ljust(3 * x.numel()).encode()\n"
    "    return torch.tensor([float(int.from_bytes(text[at : at + 3], 'big')) for at in range(0, 3 * x.numel(), 3)]).reshape(x.shape)",
    "the name of a type": "return type(a_line() or 'T', (), {})()",
}


def caught_and_told(
    catcher: str, route: str, right: Mapping[str, str], functions: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Answers to the exercises of ``right``: the first catches, the others bring it out by their cells, or when checked.

    ``right``: answers by exercise; ``functions``: what an exercise's function is called, if not as the exercise is.
    """
    first, *others = right
    answers = {first: f"{CATCH}\n{CATCHERS[catcher]}\n{right[first]}"}
    for number, name in enumerate(others):
        if route in INSIDE:
            called = (functions or {}).get(name, name)
            text = f"{right[name]}\ndef {called}(x, *rest, right={called}):\n    {INSIDE[route]}"
        elif route == "split":
            text = (
                f"{right[name]}\n{_SPLIT}\nprint(SPLIT[{': len(SPLIT) // 2' if number == 0 else 'len(SPLIT) // 2 :'}])"
            )
        else:
            text = f"{right[name]}\n{ROUTES[route]}"
        answers[name] = f"{SAY}\n{text}"
    return answers


def _catching(catcher: str, route: str) -> Attack:
    others = {one: HONEST[one] for one in ("double_grad", "intermediate_grad")}
    functions = {"double_grad": "func", "intermediate_grad": "watch_gradient"}
    answers = caught_and_told(catcher, route, {"weight_grad": WRONG, **others}, functions)
    tries = f"catches hidden checks by {catcher}, and brings them out as {route}"
    name = f"hidden_by_{catcher}_as_{route}".replace(" ", "_")
    ends = ("failed", "error", "killed", "timeout", "not answered")
    return attack("secrets", name, tries, answers, expects=ends)


ATTACKS = [
    *programs("oracle", "oracle"),
    *(_catching(catcher, "base64") for catcher in CATCHERS),
    *(_catching("compile", route) for route in (*ROUTES, *INSIDE, "split") if route != "base64"),
]
