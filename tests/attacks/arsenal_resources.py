"""Attacks on the machine: time, memory, processes, output, and processes that will not end."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import STOCK_DANGER, cell_attack

_bomb = partial(cell_attack, "resources", keeps=True, stock=STOCK_DANGER)
_CRASH = "run"
OUT = ("out of memory", "error", "killed", "timeout")
IN_HOOK = "\nmodel = Model(); model.W.register_hook(tensor_hook)\n"

CHANNEL = """
import os, socket, stat, struct, threading, time
def channels():
    found = []
    for number in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode): found.append(number)
        except OSError: pass
    return found
"""

EAT = """
import os, time
def eat(megabytes):
    held = []
    for _ in range(megabytes // 4):
        try: held.append(bytearray(b"x") * (4 << 20))
        except MemoryError: break
    while True: time.sleep(100)
"""

ATTACKS = [
    _bomb(
        "loop_that_swallows_all",
        "loops for ever, ignores every signal and swallows every exception",
        """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try:
        while True: pass
    except BaseException: pass
""",
        expects=("timeout",),
    ),
    _bomb(
        "loop_in_the_hook",
        "loops for ever while the check runs",
        "def tensor_hook(grad):\n    while True: pass" + IN_HOOK,
        expects=("timeout",),
    ),
    _bomb(
        "loop_in_c",
        "loops inside one call of C code, where no Python signal arrives",
        "sum(range(10**12))",
        expects=("timeout",),
    ),
    _bomb(
        "slow_pattern",
        "matches a pattern that takes for ever",
        """
import re
re.match(r"(a+)+$", "a" * 60 + "b")
""",
        expects=("timeout",),
    ),
    _bomb(
        "number_to_text",
        "writes out a number of ten million digits",
        """
import sys
sys.set_int_max_str_digits(0)
str(10**50_000_000)
""",
        expects=("timeout", *OUT),
    ),
    _bomb(
        "exception_that_loops",
        "raises an exception whose text is never finished",
        """
class Endless(Exception):
    def __str__(self):
        while True: pass
raise Endless()
""",
        expects=("timeout",),
    ),
    _bomb(
        "result_that_loops",
        "ends in a value whose repr is never finished",
        """
class Endless:
    def __repr__(self):
        while True: pass
Endless()
""",
        expects=("timeout",),
    ),
    _bomb(
        "sleeps_at_exit",
        "sleeps in atexit, in __del__ and in a non-daemon thread",
        """
import atexit, time, threading
class Clings:
    def __del__(self): time.sleep(1000)
clings = Clings()
atexit.register(time.sleep, 1000)
threading.Thread(target=time.sleep, args=(1000,)).start()
""",
    ),
    _bomb(
        "fork_bomb",
        "forks as often as it can, in every fork",
        """
import os
while True:
    try: os.fork()
    except OSError: pass
""",
        expects=("timeout", "killed", "out of memory"),
    ),
    _bomb(
        "fork_bomb_in_shell",
        "the shell's fork bomb",
        """
import subprocess
subprocess.run(["bash", "-c", ":(){ :|:& };:"], timeout=1)
""",
        expects=("timeout", "killed", "failed", "error"),
    ),
    _bomb(
        "busy_processes",
        "fills the processors with forty busy processes",
        """
import os, time
for _ in range(40):
    try:
        if os.fork() == 0:
            while True: pass
    except OSError: break
time.sleep(1.5)
""",
        expects=("failed", "error", "timeout", "killed"),
    ),
    _bomb(
        "thread_bomb",
        "starts threads without end",
        """
import threading, time
started = 0
while started < 100_000:
    try: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    except RuntimeError: break
    started += 1
if started > 1000: print("PW" + "NED:", started, "threads")
""",
        expects=("failed", "error", "killed"),
    ),
    _bomb(
        "stops_itself",
        "sends itself SIGSTOP, and its children too",
        """
import os, signal
if os.fork() == 0:
    while True: os.kill(1, signal.SIGSTOP); os.kill(os.getpid(), signal.SIGSTOP)
signal.pause()
""",
        expects=("timeout",),
    ),
    _bomb(
        "closes_everything",
        "closes all file descriptors, the worker's socket among them, and goes on",
        """
import os, time
os.closerange(0, 4096)
while True: time.sleep(1)
""",
        expects=("killed", "timeout"),
    ),
    _bomb(
        "closes_and_comes_back",
        "puts /dev/null in place of all file descriptors",
        """
import os
null = os.open("/dev/null", os.O_RDWR)
for number in range(0, 200):
    if number != null: os.dup2(null, number)
""",
        expects=("killed", "timeout"),
    ),
    _bomb("exits", "ends the process with os._exit", "import os\nos._exit(0)", expects=("killed",), stock=_CRASH),
    _bomb("segfaults", "reads address 0", "import ctypes\nctypes.string_at(0)", expects=("killed",), stock=_CRASH),
    _bomb(
        "aborts",
        "aborts the process from a child, a thread and itself",
        "import os\nos.fork() or os._exit(1)\nos.abort()",
        expects=("killed",),
        stock=_CRASH,
    ),
    _bomb(
        "daemon_outlives_the_cell",
        "leaves a detached process and a thread that go on after the cell",
        """
import os, threading, time
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    os.execvp("sleep", ["sleep", "987654"])
def later():
    for _ in range(200): print("still here"); time.sleep(0.01)
threading.Thread(target=later, daemon=True).start()
""",
    ),
    _bomb(
        "time_bomb",
        "ends the process a little later, while another exercise runs",
        """
import os, threading
threading.Timer(0.05, lambda: os._exit(0)).start()
""",
        expects=("failed", "error", "killed"),
        keeps=False,
    ),
    _bomb(
        "runs_once_only",
        "behaves the first time, and loops for ever whenever its cell is run again",
        """
import os, time
def tensor_hook(grad): os._exit(0)
if os.path.exists("ran"):
    while True: pass
open("ran", "w").close()
"""
        + IN_HOOK,
        expects=("killed", "timeout"),
    ),
    _bomb(
        "many_small_delays",
        "uses each exercise's time to the full, so that the submission's time is over",
        "import time\ntime.sleep(2.5)\nmodel.W.register_hook(lambda grad: time.sleep(1000))\n",
        expects=("timeout",),
    ),
]
