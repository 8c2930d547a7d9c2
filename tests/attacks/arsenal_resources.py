"""Attacks on the machine: time, memory, processes, output, and processes that will not end."""

from __future__ import annotations

from functools import partial

from arsenal import STOCK_DANGER, cell_attack

_bomb = partial(cell_attack, "resources", keeps=True, stock=STOCK_DANGER)
_CRASH = "run"
_OUT = ("out of memory", "error", "killed")
_IN_HOOK = "\nmodel = Model(); model.W.register_hook(tensor_hook)\n"

_CHANNEL = """
import os, socket, stat, struct, threading, time
def channels():
    found = []
    for number in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode): found.append(number)
        except OSError: pass
    return found
"""

_EAT = """
import os, time
def eat(megabytes):
    held = []
    for _ in range(megabytes // 4):
        try: held.append(bytearray(b"x") * (4 << 20))
        except MemoryError: break
    while True: time.sleep(100)
"""

ATTACKS = [
    _bomb("loop_that_swallows_all", "loops for ever, ignores every signal and swallows every exception", """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try:
        while True: pass
    except BaseException: pass
""", expects=("timeout",)),
    _bomb("loop_in_the_hook", "loops for ever while the check runs", "def tensor_hook(grad):\n    while True: pass" + _IN_HOOK, expects=("timeout",)),
    _bomb("loop_in_c", "loops inside one call of C code, where no Python signal arrives", "sum(range(10**12))", expects=("timeout",)),
    _bomb("slow_pattern", "matches a pattern that takes for ever", """
import re
re.match(r"(a+)+$", "a" * 60 + "b")
""", expects=("timeout",)),
    _bomb("number_to_text", "writes out a number of ten million digits", """
import sys
sys.set_int_max_str_digits(0)
str(10**50_000_000)
""", expects=("timeout", *_OUT)),
    _bomb("exception_that_loops", "raises an exception whose text is never finished", """
class Endless(Exception):
    def __str__(self):
        while True: pass
raise Endless()
""", expects=("timeout",)),
    _bomb("result_that_loops", "ends in a value whose repr is never finished", """
class Endless:
    def __repr__(self):
        while True: pass
Endless()
""", expects=("timeout",)),
    _bomb("sleeps_at_exit", "sleeps in atexit, in __del__ and in a non-daemon thread", """
import atexit, time, threading
class Clings:
    def __del__(self): time.sleep(1000)
clings = Clings()
atexit.register(time.sleep, 1000)
threading.Thread(target=time.sleep, args=(1000,)).start()
"""),
    _bomb("fork_bomb", "forks as often as it can, in every fork", """
import os
while True:
    try: os.fork()
    except OSError: pass
""", expects=("timeout", "killed", "out of memory")),
    _bomb("fork_bomb_in_shell", "the shell's fork bomb", """
import subprocess
subprocess.run(["bash", "-c", ":(){ :|:& };:"], timeout=1)
""", expects=("timeout", "killed", "failed", "error")),
    _bomb("busy_processes", "fills the processors with forty busy processes", """
import os, time
for _ in range(40):
    try:
        if os.fork() == 0:
            while True: pass
    except OSError: break
time.sleep(1.5)
""", expects=("failed", "error", "timeout", "killed")),
    _bomb("thread_bomb", "starts threads without end", """
import threading, time
started = 0
while started < 100_000:
    try: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    except RuntimeError: break
    started += 1
if started > 1000: print("PW" + "NED:", started, "threads")
"""),
    _bomb("memory_by_bytes", "takes memory by bytes", "held = []\nwhile True: held.append(b'x' * (16 << 20))", expects=_OUT),
    _bomb("memory_by_tensors", "takes memory by tensors", "held = []\nwhile True: held.append(torch.ones(4 << 20))", expects=_OUT),
    _bomb("memory_in_one_go", "asks for a terabyte", "held = torch.ones(1 << 38)", expects=_OUT),
    _bomb("memory_by_children", "takes memory in many children, each below the limit of one process", _EAT + """
for _ in range(20):
    if os.fork() == 0: eat(200)
time.sleep(60)
""", expects=("out of memory",)),
    _bomb("memory_unseen", "takes memory in children that hide themselves from the one who measures", _EAT + """
import ctypes
for _ in range(20):
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE 0: others cannot look at /proc/<pid> any more
        eat(200)
time.sleep(60)
""", expects=("out of memory",)),
    _bomb("memory_while_it_drips", "takes memory while a slow answer keeps the grader busy", _EAT + _CHANNEL + """
for _ in range(20):
    if os.fork() == 0: eat(200)
for number in channels():
    os.write(number, struct.pack(">II", 8_000_000, 0))
    while True:
        os.write(number, b" "); time.sleep(0.02)
""", expects=("out of memory",)),
    _bomb("memory_between_questions", "takes memory in a thread while no question is open", """
import threading
def eat():
    held = []
    while True:
        try: held.append(bytearray(b"x") * (8 << 20))
        except MemoryError: held.clear()
threading.Thread(target=eat, daemon=True).start()
""", expects=("failed", "error", *_OUT), keeps=False),
    _bomb("memory_of_the_kernel", "fills sockets and pipes, which no limit of a process counts", """
import os, socket, fcntl
held = []
try:
    while True:
        pair = socket.socketpair(); held.append(pair)
        for one in pair:
            one.setblocking(False)
            try:
                while True: one.send(b"x" * 65536)
            except OSError: pass
except OSError: pass
"""),
    _bomb("memory_of_the_kernel_by_children", "fills sockets in forty processes, until the kernel holds gigabytes", """
import os, socket, time
for _ in range(40):
    try:
        if os.fork() == 0: break
    except OSError: pass
else: time.sleep(60)
held = []
try:
    while len(held) < 100:
        pair = socket.socketpair(); held.append(pair)
        for one in pair:
            one.setblocking(False)
            try:
                while True: one.send(b"x" * 32768)
            except OSError: pass
except OSError: pass
time.sleep(100)
""", expects=("out of memory",)),
    _bomb("memory_by_memfd", "takes memory in files that only exist in memory", """
import os
held = []
for _ in range(200):
    fd = os.memfd_create("x"); held.append(fd)
    os.write(fd, b"x" * (16 << 20))
print("PW" + "NED: memfd")
"""),
    _bomb("disk_bomb", "fills its folder and /tmp", """
for number in range(1000):
    with open(f"/tmp/fill{number}" if number % 2 else f"fill{number}", "wb") as file: file.write(b"x" * (8 << 20))
print("PW" + "NED: eight gigabytes")
"""),
    _bomb("disk_bomb_of_empty_files", "makes files without number, all empty", """
import os
made = 0
try:
    while made < 200_000:
        os.close(os.open(f"e{made}", os.O_CREAT | os.O_WRONLY)); made += 1
except OSError: pass
if made >= 200_000: print("PW" + "NED:", made, "files")
"""),
    _bomb("descriptor_bomb", "opens files until there are no descriptors left", """
import os
held = []
try:
    while True: held.append(os.open("/dev/null", os.O_RDONLY))
except OSError: pass
if len(held) > 10_000: print("PW" + "NED:", len(held))
""", expects=("failed", "error", "killed")),
    _bomb("prints_without_end", "prints for ever", "while True: print('x' * 100_000)", expects=("timeout",)),
    _bomb("warns_without_end", "writes to stderr for ever", "import sys, os\nwhile True:\n    sys.stderr.write('x' * 100_000); os.write(2, b'x' * 100_000)", expects=("timeout",)),
    _bomb("displays_without_end", "displays for ever", "from IPython.display import display, HTML\nwhile True: display(HTML('<b>x</b>' * 10_000))", expects=("timeout",)),
    _bomb("exception_of_a_gigabyte", "raises an exception with a text of 200 MB", "raise ValueError('x' * 200_000_000)", expects=("error", *_OUT, "timeout")),
    _bomb("repr_of_a_gigabyte", "ends in a value whose repr has 200 MB", """
class Large:
    def __repr__(self): return "x" * 200_000_000
Large()
""", expects=("failed", *_OUT, "timeout")),
    _bomb("prints_in_the_check", "prints 100 MB while the check runs", "def tensor_hook(grad):\n    for _ in range(1000): print('2,3 ' * 25_000)" + _IN_HOOK, expects=("failed", "timeout", *_OUT)),
    _bomb("recursion", "recurses without end, the limit of Python out of the way", """
import sys
sys.setrecursionlimit(10**9)
def deeper(): return [deeper() for _ in (1,)]
deeper()
""", expects=_OUT),
    _bomb("stops_itself", "sends itself SIGSTOP, and its children too", """
import os, signal
if os.fork() == 0:
    while True: os.kill(1, signal.SIGSTOP); os.kill(os.getpid(), signal.SIGSTOP)
signal.pause()
""", expects=("timeout",)),
    _bomb("closes_everything", "closes all file descriptors, the worker's socket among them, and goes on", """
import os, time
os.closerange(0, 4096)
while True: time.sleep(1)
""", expects=("killed", "timeout")),
    _bomb("closes_and_comes_back", "puts /dev/null in place of all file descriptors", """
import os
null = os.open("/dev/null", os.O_RDWR)
for number in range(0, 200):
    if number != null: os.dup2(null, number)
""", expects=("killed", "timeout")),
    _bomb("exits", "ends the process with os._exit", "import os\nos._exit(0)", expects=("killed",), stock=_CRASH),
    _bomb("segfaults", "reads address 0", "import ctypes\nctypes.string_at(0)", expects=("killed",), stock=_CRASH),
    _bomb("aborts", "aborts the process from a child, a thread and itself", "import os\nos.fork() or os._exit(1)\nos.abort()", expects=("killed",), stock=_CRASH),
    _bomb("daemon_outlives_the_cell", "leaves a detached process and a thread that go on after the cell", """
import os, threading, time
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    os.execvp("sleep", ["sleep", "987654"])
def later():
    for _ in range(200): print("still here"); time.sleep(0.01)
threading.Thread(target=later, daemon=True).start()
"""),
    _bomb("time_bomb", "ends the process a little later, while another exercise runs", """
import os, threading
threading.Timer(0.05, lambda: os._exit(0)).start()
""", expects=("failed", "error", "killed"), keeps=False),
    _bomb("runs_once_only", "behaves the first time, and loops for ever whenever its cell is run again", """
import os, time
def tensor_hook(grad): os._exit(0)
if os.path.exists("/scratch/ran"):
    while True: pass
open("/scratch/ran", "w").close()
""" + _IN_HOOK, expects=("killed", "timeout")),
    _bomb("many_small_delays", "uses each exercise's time to the full, so that the submission's time is over", "import time\ntime.sleep(2.5)\nmodel.W.register_hook(lambda grad: time.sleep(1000))\n", expects=("timeout",)),
]
