"""Attacks on the machine: memory, disk, descriptors and output."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import STOCK_DANGER, cell_attack
from tests.attacks.arsenal_resources import CHANNEL, EAT, IN_HOOK, OUT

_bomb = partial(cell_attack, "resources", keeps=True, stock=STOCK_DANGER)


ATTACKS = [
    _bomb(
        "memory_by_bytes",
        "takes memory by bytes",
        "held = []\nwhile True: held.append(b'x' * (16 << 20))",
        expects=OUT,
    ),
    _bomb(
        "memory_by_tensors",
        "takes memory by tensors",
        "held = []\nwhile True: held.append(torch.ones(4 << 20))",
        expects=OUT,
    ),
    _bomb("memory_in_one_go", "asks for a terabyte", "held = torch.ones(1 << 38)", expects=OUT),
    _bomb(
        "memory_by_children",
        "takes memory in many children, each below the limit of one process",
        EAT
        + """
for _ in range(20):
    if os.fork() == 0: eat(200)
time.sleep(60)
""",
        expects=("out of memory",),
    ),
    _bomb(
        "memory_unseen",
        "takes memory in children that hide themselves from the one who measures",
        EAT
        + """
import ctypes
for _ in range(20):
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE 0: others cannot look at /proc/<pid> any more
        eat(200)
time.sleep(60)
""",
        expects=("out of memory",),
    ),
    _bomb(
        "memory_while_it_drips",
        "takes memory while a slow answer keeps the grader busy",
        EAT
        + CHANNEL
        + """
for _ in range(20):
    if os.fork() == 0: eat(200)
for number in channels():
    os.write(number, struct.pack(">II", 8_000_000, 0))
    while True:
        os.write(number, b" "); time.sleep(0.02)
""",
        expects=("out of memory",),
    ),
    _bomb(
        "memory_between_questions",
        "takes memory in a thread while no question is open",
        """
import threading
def eat():
    held = []
    while True:
        try: held.append(bytearray(b"x") * (8 << 20))
        except MemoryError: held.clear()
threading.Thread(target=eat, daemon=True).start()
""",
        expects=("failed", "error", *OUT),
        keeps=False,
    ),
    _bomb(
        "memory_of_the_kernel",
        "fills sockets and pipes, which no limit of a process counts",
        """
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
""",
    ),
    _bomb(
        "memory_of_the_kernel_by_children",
        "fills sockets in forty processes, until the kernel holds gigabytes",
        """
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
""",
        expects=("out of memory",),
    ),
    _bomb(
        "memory_by_memfd",
        "takes memory in files that only exist in memory",
        """
import os
held = []
for _ in range(200):
    fd = os.memfd_create("x"); held.append(fd)
    os.write(fd, b"x" * (16 << 20))
print("PW" + "NED: memfd")
""",
    ),
    _bomb(
        "disk_bomb",
        "fills its folder and /tmp",
        """
for number in range(1000):
    with open(f"/tmp/fill{number}" if number % 2 else f"fill{number}", "wb") as file: file.write(b"x" * (8 << 20))
print("PW" + "NED: eight gigabytes")
""",
    ),
    _bomb(
        "disk_bomb_of_empty_files",
        "makes files without number, all empty",
        """
import os
made = 0
try:
    while made < 200_000:
        os.close(os.open(f"e{made}", os.O_CREAT | os.O_WRONLY)); made += 1
except OSError: pass
if made >= 200_000: print("PW" + "NED:", made, "files")
""",
        expects=("failed", "error", "killed", "timeout"),
    ),
    _bomb(
        "descriptor_bomb",
        "opens files until there are no descriptors left",
        """
import os
held = []
try:
    while True: held.append(os.open("/dev/null", os.O_RDONLY))
except OSError: pass
if len(held) > 10_000: print("PW" + "NED:", len(held))
""",
        expects=("failed", "error", "killed"),
    ),
    _bomb("prints_without_end", "prints for ever", "while True: print('x' * 100_000)", expects=("timeout",)),
    _bomb(
        "warns_without_end",
        "writes to stderr for ever",
        "import sys, os\nwhile True:\n    sys.stderr.write('x' * 100_000); os.write(2, b'x' * 100_000)",
        expects=("timeout",),
    ),
    _bomb(
        "displays_without_end",
        "displays for ever",
        "from IPython.display import display, HTML\nwhile True: display(HTML('<b>x</b>' * 10_000))",
        expects=("timeout",),
    ),
    _bomb(
        "exception_of_a_gigabyte",
        "raises an exception with a text of 200 MB",
        "raise ValueError('x' * 200_000_000)",
        expects=("error", *OUT, "timeout"),
    ),
    _bomb(
        "repr_of_a_gigabyte",
        "ends in a value whose repr has 200 MB",
        """
class Large:
    def __repr__(self): return "x" * 200_000_000
Large()
""",
        expects=("failed", *OUT, "timeout"),
    ),
    _bomb(
        "prints_in_the_check",
        "prints 100 MB while the check runs",
        "def tensor_hook(grad):\n    for _ in range(1000): print('2,3 ' * 25_000)" + IN_HOOK,
        expects=("failed", "timeout", *OUT),
    ),
    _bomb(
        "recursion",
        "recurses without end, the limit of Python out of the way",
        """
import sys
sys.setrecursionlimit(10**9)
def deeper(): return [deeper() for _ in (1,)]
deeper()
""",
        expects=OUT,
    ),
]
