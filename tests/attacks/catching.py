"""Tricks that catch the text of a hidden check in the process that runs it, and ways to bring it out."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CATCHERS", "INSIDE", "ROUTES", "caught_and_told"]

CATCH = """
import builtins, sys, gc, threading, time
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
    "exec": "kept = builtins.exec\ndef patched(code, *a, **k):\n    look(sys._getframe(1))\n    return kept(code, *a, **k)\n"
    "builtins.exec = patched",
    "marshal and json": "import json\nkept = json.loads\ndef patched(text, *a, **k):\n    made = kept(text, *a, **k)\n"
    "    note(made.get('source') if isinstance(made, dict) else None)\n    return made\njson.loads = patched",
    "audit hook": "sys.addaudithook(lambda event, arguments: note(arguments[0]) if event == 'compile' else None)",
    "trace": "def trace(frame, event, argument):\n    if frame.f_code.co_name in ('<module>', 'probe'): look(frame)\n    return None\nsys.settrace(trace)",
    "profile": "def profile(frame, event, argument):\n    if frame.f_code.co_name in ('<module>', 'probe'): look(frame)\nsys.setprofile(profile)",
    "gc": "gc.callbacks.append(lambda phase, info: look(sys._getframe(1)))\ngc.enable()\ngc.set_threshold(5)",
    "frames": "import torch\nkept = torch.Tensor.__mul__\ndef patched(self, other):\n    look(sys._getframe(1))\n"
    "    return kept(self, other)\ntorch.Tensor.__mul__ = patched",
    "a torch function": "import torch\nkept = torch.randn\ndef patched(*a, **k):\n    look(sys._getframe(1))\n    return kept(*a, **k)\n"
    "torch.randn = torch.rand = patched",
    "meta path": "class Finder:\n    def find_spec(self, *a, **k):\n        look(sys._getframe(1))\n"
    "sys.meta_path.insert(0, Finder())\nimport course.grading.worker as worker\n"
    "worker._pristine.restore = lambda: sys.modules.pop('course.checking', None)",
    "the import": "kept = builtins.__import__\ndef patched(*a, **k):\n    look(sys._getframe(1))\n    return kept(*a, **k)\n"
    "builtins.__import__ = patched",
    "the class": "kept = builtins.__build_class__\ndef patched(*a, **k):\n    look(sys._getframe(1))\n    return kept(*a, **k)\n"
    "builtins.__build_class__ = patched",
    "course": "from course.case import Case\nkept = Case.__init__\nimport course.grading.worker as worker\nkept_learn = worker._learn\n"
    "def patched(header, *a, **k):\n    note(header.get('source'))\n    return kept_learn(header, *a, **k)\nworker._learn = patched",
    "the line": "import course.grading.wire as wire\nkept = wire.receive\ndef patched(*a, **k):\n    header, data = kept(*a, **k)\n"
    "    note(header.get('source'))\n    return header, data\nwire.receive = patched",
    "a thread": "def watch():\n    while True:\n        for frame in list(sys._current_frames().values()): look(frame)\n"
    "        time.sleep(0.0005)\nthreading.Thread(target=watch, daemon=True).start()",
    "a signal": "import signal\nsignal.signal(signal.SIGALRM, lambda number, frame: look(frame))\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)",
    "linecache": "import inspect, torch\nkept = torch.Tensor.__mul__\ndef patched(self, other):\n"
    "    look(inspect.currentframe())\n"
    "    for one in gc.get_objects():\n        if type(one) is dict and 'source' in one: note(one['source'])\n"
    "    return kept(self, other)\ntorch.Tensor.__mul__ = patched",
}  # fmt: skip

SAY = """
import base64, builtins, zlib
def secret():
    text = "\\n".join(builtins.__dict__.get("CAUGHT", []))
    return text[max(0, text.rfind("class ")):]
"""
ROUTES = {
    "plain": "print(secret())",
    "base64": "print(base64.b64encode(zlib.compress(secret().encode())).decode())",
    "backwards": "print(secret()[::-1])",
    "hex": "print(secret().encode().hex())",
    "numbers": "print(list(secret().encode()))",
    "an error": "raise ValueError(secret())",
    "a picture": "from PIL import Image\nfrom IPython.display import display\ndata = secret().encode() or b'x'\n"
    "display(Image.frombytes('L', (len(data), 1), data))",
    "a display": "from IPython.display import display\n"
    "display({'text/plain': secret(), 'text/html': secret()}, raw=True, metadata={secret(): secret()})",
    "an error of its function": "raise ValueError(secret())",
}
INSIDE = {
    "an error inside": "raise ValueError(secret())",
    "a printed line": "print(secret()); return x",
    "a text": "return secret()",
    "a list of numbers": "import torch; return torch.tensor(list(secret().encode() or b'x'), dtype=torch.float32)",
    "a key": "return {secret(): secret()}",
    "an attribute": "return getattr(x, secret() or 'none')",
    "a kind of error": "raise type(secret()[:2000].replace(chr(0), '') or 'E', (Exception,), {})('x')",
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
            text = f"def {(functions or {}).get(name, name)}(x, *rest):\n    {INSIDE[route]}"
        elif route == "split":
            half = "[:400]" if number == 0 else "[400:]"
            text = f"{right[name]}\nprint(base64.b64encode(zlib.compress(secret().encode())).decode(){half})"
        else:
            text = f"{right[name]}\n{ROUTES[route]}"
        answers[name] = f"{SAY}\n{text}"
    return answers
