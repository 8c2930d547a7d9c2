"""What `docs/engine.md` has in its table, as cells that try it: each prints the word that stands in the page."""

from __future__ import annotations

START = """
import ctypes, errno, fcntl, json, os, signal, socket, struct, subprocess, sys, time
libc, facts = ctypes.CDLL(None, use_errno=True), json.loads(@FACTS@)
folder, victim, shown = facts["folder"], facts["victim"], facts["shown"] + "/data.txt"

def call(number, *arguments):
    if libc.syscall(ctypes.c_long(number), *arguments) < 0: raise OSError(ctypes.get_errno(), "refused")

def room(size): return ctypes.create_string_buffer(size)

def mapped():
    '''The address of a page of a file that may only be read, and that others may read.'''
    libc.mmap.restype = ctypes.c_void_p
    return libc.mmap(None, ctypes.c_size_t(4096), 1, 1, os.open(shown, os.O_RDONLY), ctypes.c_long(0))

def tried(*attempts, good="open", bad="refused"):
    '''The word, where all attempts came to the same.'''
    said = set()
    for attempt in attempts:
        try: said.add(bad if attempt() is False else good)
        except (OSError, RuntimeError) as error:
            said.add(bad)
            if good == "works": print("line", attempt.__code__.co_firstlineno, repr(error))
    print(*said)

"""

ROWS = {
    "a right of root's, also if root grades": """
def has_one():
    rights = (ctypes.c_uint32 * 6)()
    asked = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    if libc.capget(asked, rights): raise OSError(ctypes.get_errno(), "refused")
    return any(rights)
tried(has_one)""",
    "read the course, the gradebook, a home, another submission": """
tried(lambda: open(folder + "/secret").read(), lambda: open(folder + "/facts.json"), lambda: open("/etc/shadow"))""",
    "read the checks and hints that learners have, or what only truths use": """
import course, importlib
beside = os.path.dirname(course.__file__)
def compiled():
    return any(open(f"{beside}/__pycache__/{name}", "rb").read() for name in os.listdir(beside + "/__pycache__"))
def by_import():
    try: importlib.import_module("course.truths")
    except ImportError: return False
tried(compiled, by_import, *(lambda name=name: open(f"{beside}/{name}").read() for name in ("../lessons/hints.toml", "../lessons/02_tensor_hooks/weight_grad/checks.py", "truths.py")))""",
    "list a folder that it was not shown": """
tried(lambda: os.listdir(folder), lambda: os.listdir("/home"), lambda: os.listdir("/var/log"), lambda: os.listdir("/proc/1"))""",
    "write outside its own folder": """
tried(lambda: open(folder + "/pwned", "w"), lambda: open(facts["shown"] + "/pwned", "w"), lambda: os.mkdir("/var/tmp/pwned"),
      lambda: os.mkfifo(folder + "/pwned"), lambda: os.symlink("/", facts["shown"] + "/pwned"),
      lambda: open(shown, "a"), lambda: os.link(shown, "linked") or open("linked", "a"))""",
    "empty, rename or remove a file of yours elsewhere": """
tried(lambda: os.truncate(shown, 0), lambda: os.truncate(folder + "/secret", 0), lambda: os.rename(shown, shown + "2"),
      lambda: os.rename(shown, "mine"), lambda: os.unlink(shown), lambda: os.unlink(folder + "/secret"), lambda: os.rmdir(facts["shown"]))""",
    "empty a file that it may read, by opening it": """
def empty():
    os.close(os.open(shown, os.O_RDONLY | os.O_TRUNC)); return os.path.getsize(shown) == 0
tried(empty, lambda: os.open(shown, os.O_RDWR | os.O_TRUNC))""",
    "change mode, dates, owner or attributes of a file of yours": """
def came_to(do, path=shown):
    look = lambda: [getattr(os.stat(path), name) for name in ("st_mode", "st_mtime_ns", "st_uid")]
    before = look()
    try: do()
    except OSError as error: return "refused"
    return "no effect" if look() == before else "changed"
handle = os.open(shown, os.O_RDONLY)
# Everybody may write to a device, and who may write may set its date to now.
said = {came_to(lambda: os.utime("/dev/null"), "/dev/null"), came_to(lambda: os.chmod(shown, 0o4777)), came_to(lambda: os.fchmod(handle, 0o777)),
        came_to(lambda: os.utime(shown, (1, 1))), came_to(lambda: os.utime(handle, (1, 1)))}
owned = {came_to(lambda: os.chown(shown, os.getuid(), os.getgid())), came_to(lambda: os.setxattr(shown, "user.pwned", b"1")),
         came_to(lambda: fcntl.ioctl(handle, 0x40086602, (64).to_bytes(8, "little")))}
print(*(said if owned == {"refused"} else said | owned))""",
    "learn whether a path that it knows by name is there": """
tried(lambda: os.stat(folder + "/secret"), lambda: os.path.exists(folder + "/facts.json"))""",
    "open a connection, send a packet, make a network socket": """
tried(lambda: socket.create_connection(("127.0.0.1", facts["tcp"]), 0.5).sendall(facts["token"].encode()),
      lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
      lambda: socket.socket(socket.AF_INET6), lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW), lambda: socket.socket(40))""",
    "reach a Unix socket by its path (Docker, D-Bus, X11, agents)": """
def by_pair():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); one.sendto(b"x", facts["unix"])
def by_message():
    one, _ = socket.socketpair(); one.sendmsg([b"x"], [], 0, facts["unix"])
tried(lambda: socket.socket(socket.AF_UNIX).connect(facts["unix"]), by_pair, by_message,
      lambda: socket.socketpair()[0].connect(facts["unix"]))""",
    "reach a Unix socket of the abstract namespace": """
def by_pair():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); one.connect("\\0" + facts["abstract"])
tried(lambda: socket.socket(socket.AF_UNIX).connect("\\0" + facts["abstract"]), by_pair)""",
    "signal a process of yours, or all of them": """
# A process of everybody's is not its own; to all of them never, from here.
tried(*(lambda number=number: os.kill(victim, number) for number in (0, signal.SIGTERM, signal.SIGKILL)), lambda: os.kill(-victim, 9),
      lambda: call(200, victim, 9), lambda: call(234, victim, victim, 9), lambda: call(129, victim, 9, bytes(128)),
      lambda: signal.pidfd_send_signal(os.pidfd_open(victim), 9), lambda: os.killpg(victim, 9))""",
    "have the kernel send a signal for it (F_SETOWN, SIGIO)": """
def by_file():
    one, other = socket.socketpair()
    fcntl.fcntl(one, fcntl.F_SETOWN, victim); fcntl.fcntl(one, 10, signal.SIGKILL)
    fcntl.fcntl(one, fcntl.F_SETFL, fcntl.fcntl(one, fcntl.F_GETFL) | os.O_ASYNC); other.send(b"x")
def by_ioctl():
    one, _ = socket.socketpair(); fcntl.ioctl(one, 0x8901, victim.to_bytes(4, "little"))
tried(by_file, by_ioctl)""",
    "look into a process of yours: ptrace, /proc, memory": """
tried(lambda: call(101, 16, victim, 0, 0), lambda: open(f"/proc/{victim}/mem", "rb"), lambda: open(f"/proc/{victim}/environ", "rb"),
      lambda: os.readlink(f"/proc/{victim}/exe"), lambda: call(310, victim, 0, 0, 0, 0, 0), lambda: call(438, os.pidfd_open(victim), 0, 0),
      lambda: open(f"/proc/{os.getppid()}/maps"), lambda: os.listdir(f"/proc/{victim}/fd"))""",
    "slow down a process of yours: limits, priority, processors": """
import resource
tried(lambda: resource.prlimit(victim, resource.RLIMIT_CPU, (1, 1)), lambda: os.setpriority(os.PRIO_PROCESS, victim, 19),
      lambda: os.sched_setaffinity(victim, {0}), lambda: os.sched_setscheduler(victim, os.SCHED_IDLE, os.sched_param(0)),
      lambda: call(251, 1, victim, 3 << 13))""",
    "shared memory, semaphores, message queues, keyrings": """
tried(lambda: call(29, 4711, 4096, 0o1666), lambda: call(64, 4711, 1, 0o1666), lambda: call(68, 4711, 0o1666), lambda: call(240, b"pwned", 66, 0o666, None),
      lambda: call(31, 0, 0, 0), lambda: call(250, 0, -3, 1), lambda: call(248, b"user", b"x", b"y", 1, -3))""",
    "io_uring, bpf, userfaultfd, perf, memfd": """
tried(lambda: call(425, 8, bytes(120)), lambda: call(321, 0, bytes(64), 64), lambda: call(323, 0), lambda: call(298, bytes(128), 0, -1, -1, 0),
      lambda: os.memfd_create("x"))""",
    "mount, chroot, make a namespace": """
os.mkdir("m")
tried(lambda: call(165, b"none", b"m", b"tmpfs", 0, None), lambda: os.chroot("m"), lambda: call(272, 0x10000000), lambda: call(272, 0x20000),
      lambda: call(56, 0x10000000 | 17, 0, 0, 0, 0))""",
    "leave its session, to outlive its submission": """
def daemon():
    reader, writer = os.pipe()
    if os.fork() == 0:
        try: os.setsid(); os.write(writer, b"left")
        except OSError: os.write(writer, b"refused")
        os._exit(0)
    os.close(writer)
    return os.read(reader, 10) == b"left"
tried(daemon, lambda: os.setsid())""",
    "more processes and threads than its limit": """
def many():
    for number in range(100):
        if os.fork() == 0: time.sleep(100)
tried(many)""",
    "a file larger than its disk": """
def large():
    with open("large", "wb") as file: file.write(bytes(17 << 20))
tried(large)""",
    "files that are larger than its disk together": """
def many():
    for number in range(10):
        with open(f"f{number}", "wb") as file: file.write(bytes(8 << 20))
        time.sleep(0.2)
tried(many)""",
    "deleted files that take more room than its disk": """
def many():
    held = []
    for number in range(20):
        file = open("f", "wb"); os.unlink("f"); file.write(bytes(8 << 20)); file.flush(); held.append(file)
        time.sleep(0.3)
tried(many)""",
    "lock a file that others may read (flock, fcntl)": """
def by_flock():
    for kind in (fcntl.LOCK_SH, fcntl.LOCK_EX):
        one, other = open(shown), open(shown)
        fcntl.flock(one, kind); fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
def by_descriptor():
    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    one, other = open("/dev/null", "w"), open("/dev/null", "w")
    for file in (one, other): fcntl.fcntl(file, 37, lock)
def by_process():
    file = open("/dev/null", "w"); fcntl.lockf(file, fcntl.LOCK_EX)
    child = os.fork()
    if child == 0:
        try: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB); os._exit(0)
        except OSError: os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
tried(by_flock, by_descriptor, by_process, good="no effect", bad="open")""",
    "hold up or watch who opens a file: leases, dnotify, inotify, fanotify": """
def lease(): fcntl.fcntl(os.open("own", os.O_RDONLY | os.O_CREAT), fcntl.F_SETLEASE, fcntl.F_RDLCK)
def note(): fcntl.fcntl(os.open(facts["shown"], os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)
tried(lease, note, lambda: call(294, 0), lambda: call(300, 0x200, 0), lambda: call(303, -100, shown.encode(), room(200), room(8), 0))""",
    "ask what of a file is in memory: mincore, cachestat, preadv2, openat2, ioctl": """
def in_memory(): call(27, ctypes.c_void_p(mapped()), ctypes.c_size_t(4096), room(8))
def ready(): os.preadv(os.open(shown, os.O_RDONLY), [bytearray(4)], 0, os.RWF_NOWAIT)
def extents(): fcntl.ioctl(os.open(shown, os.O_RDONLY), 0xC020662A, struct.pack("<QQ4I", 0, 2**64 - 1, 0, 0, 0, 0))
open(shown).read()
tried(in_memory, ready, lambda: call(451, os.open(shown, os.O_RDONLY), bytes(16), room(40), 0),
      lambda: call(437, -100, shown.encode(), struct.pack("<3Q", 0, 0, 0x20), ctypes.c_size_t(24)), extents,
      lambda: call(239, room(8), room(128), ctypes.c_ulong(1024), ctypes.c_void_p(mapped()), 3))""",
    "have what files hold read ahead, dropped or written: fadvise, readahead, madvise": """
# On no file, and at no page: the kernel would say so.
advice = [lambda kind=kind: call(28, ctypes.c_void_p(1), ctypes.c_size_t(1), kind) for kind in (3, 12, 20, 21, 22, 23, 25)]
tried(lambda: call(221, -1, 0, 0, 4), lambda: call(187, -1, 0, 1), lambda: call(277, -1, 0, 1, 2), *advice, good="no effect", bad="open")""",
    "wake a process that waits at a file which both may read (futex)": """
def wake():
    place, word = ctypes.c_void_p(mapped()), int.from_bytes(b"keep", "little")
    child = os.fork()
    if child == 0: libc.syscall(202, place, 0, word, struct.pack("qq", 5, 0), None, 0); os._exit(0)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if libc.syscall(202, place, 1, 1, None, None, 0): return False
        time.sleep(0.01)
tried(wake, good="no effect", bad="open")""",
    "have the machine write all that it holds to disk (sync, syncfs)": """
tried(lambda: call(162), lambda: call(306, os.open(shown, os.O_RDONLY)))""",
    "use up what all of a user's processes share: timers, waiting signals, large pipes, huge pages": """
def huge():
    libc.mmap.restype = ctypes.c_void_p
    return libc.mmap(None, ctypes.c_size_t(2 << 20), 3, 0x44022, -1, ctypes.c_long(0)) != 2**64 - 1
def wait():
    signal.pthread_sigmask(signal.SIG_BLOCK, [40])
    for _ in range(300): call(129, os.getpid(), 40, struct.pack("iii", 40, 0, -1) + bytes(116))
tried(wait, lambda: call(222, 1, None, room(8)), lambda: fcntl.fcntl(os.pipe()[0], 1031, 1 << 20), huge)""",
    "use up what a user may have under way between processes: descriptors (SCM_RIGHTS)": """
def send():
    here, there = socket.socketpair()
    socket.send_fds(here, [b"x"], [here.fileno()])
tried(send)""",
    "ask about a process of yours: group, priority, processors, processor time": """
tried(lambda: os.getpgid(victim), lambda: os.getsid(victim), lambda: os.getpriority(os.PRIO_PROCESS, victim), lambda: os.sched_getaffinity(victim),
      lambda: os.sched_getscheduler(victim), lambda: os.sched_getparam(victim), lambda: os.sched_rr_get_interval(victim), lambda: os.pidfd_open(victim),
      lambda: time.clock_gettime(~victim << 3 | 2), lambda: time.clock_getres(~victim << 3 | 2), lambda: call(230, ~victim << 3 | 2, 0, bytes(16), None),
      lambda: call(252, 1, victim), lambda: call(315, victim, room(56), 56, 0),
      lambda: call(274, victim, room(8), room(8)))""",
    "ask about the whole machine: memory, load, processes, room on a disk": """
tried(lambda: call(99, room(128)), lambda: os.statvfs(shown), lambda: os.fstatvfs(os.open(shown, os.O_RDONLY)))""",
    "leave a date on a file by reading it": """
path = facts["shown"] + "/unread.txt"
before = os.stat(path).st_atime_ns; open(path).read()
print("no effect" if os.stat(path).st_atime_ns == before else "open")""",
    "threads, forks, programs, pipes": """
import threading
def thread():
    said = []; one = threading.Thread(target=said.append, args=(1,)); one.start(); one.join(); return said == [1]
def fork():
    child = os.fork()
    if child == 0: os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
tried(thread, fork, lambda: subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True).stdout == b"42\\n",
      lambda: subprocess.run("echo a | cat", shell=True, capture_output=True).stdout == b"a\\n", good="works")""",
    "copy, rename and remove in its own folder": """
import shutil, tempfile
def files():
    os.makedirs("a/b"); open("a/one", "w").write("1"); shutil.copy("a/one", "a/two"); shutil.copy2("a/one", "a/b/three")
    shutil.copytree("a", "c"); os.rename("a/one", "a/four"); shutil.move("a/two", "a/b/five"); shutil.rmtree("c")
    with tempfile.TemporaryDirectory() as name: open(name + "/x", "w").write("x")
    with tempfile.NamedTemporaryFile() as file: file.write(b"x"); file.truncate(0)
    return sorted(os.listdir("a")) == ["b", "four"] and sorted(os.listdir("a/b")) == ["five", "three"]
tried(files, good="works")""",
    "end what it started itself": """
def end():
    one = subprocess.Popen(["sleep", "100"]); one.terminate(); return one.wait(5) == -15
def fork():
    child = os.fork()
    if child == 0: time.sleep(100)
    os.kill(child, signal.SIGKILL); return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
def oneself():
    got = []; signal.signal(signal.SIGUSR1, lambda *_: got.append(1)); os.kill(os.getpid(), signal.SIGUSR1); signal.raise_signal(signal.SIGUSR1)
    return len(got) == 2
tried(end, fork, oneself, good="works")""",
    "tensors, autograd, packages from PYTHONPATH": """
import torch, from_elsewhere
x = torch.ones(3, requires_grad=True); (x @ x).backward()
optimizer = torch.optim.SGD([x], 0.1); optimizer.step()
torch.save(x, "x.pt")
tried(lambda: x.grad.tolist() == [2.0] * 3 and from_elsewhere.NAME == "elsewhere" and torch.load("x.pt").shape == (3,), good="works")""",
    "databases, arrays and locks in files of its own": """
import sqlite3, numpy, tempfile, torch
def base():
    one, other = sqlite3.connect("one.db"), sqlite3.connect("one.db")
    with one: one.execute("create table t (a)"); one.execute("insert into t values (7)")
    with other: other.execute("update t set a = a + 1")
    return one.execute("select a from t").fetchall() == sqlite3.connect("one.db").execute("select a from t").fetchall() == [(8,)]
def array():
    one = numpy.memmap("array", dtype="float32", mode="w+", shape=(3, 4)); one[1] = 5; one.flush(); torch.save(torch.ones(3), "ones.pt")
    return numpy.memmap("array", dtype="float32", mode="r", shape=(3, 4)).sum() == 20 and torch.load("ones.pt", mmap=True).sum() == 3
def parts():
    file = os.open("parts", os.O_RDWR | os.O_CREAT); os.pwritev(file, [b"ab", b"c"], 0); return os.preadv(file, [bytearray(3)], 0) == 3
def lock():
    with open("lock", "w") as file: fcntl.flock(file, fcntl.LOCK_EX); fcntl.lockf(file, fcntl.LOCK_UN)
    with tempfile.TemporaryFile() as file: file.write(b"x"); os.fsync(file); os.posix_fadvise(file.fileno(), 0, 0, 1); os.sync()
tried(base, array, parts, lock, good="works")""",
    "ask about itself: group, priority, processors, time": """
import resource
me = os.getpid()
tried(*(lambda who=who: os.getpgid(who) and os.getsid(who) and os.sched_getaffinity(who) and os.getpriority(os.PRIO_PROCESS, who) >= 0
        and os.sched_getscheduler(who) == 0 for who in (0, me)),
      lambda: time.process_time() > 0 and time.thread_time() > 0 and resource.getrusage(resource.RUSAGE_SELF).ru_utime >= 0, good="works")""",
    "write to /tmp by that name": """
tried(lambda: open("/tmp/mine", "w"), good="works")""",
    "write to /dev/shm, as locks of multiprocessing do": """
def locks():
    import multiprocessing; multiprocessing.Lock(); open("/dev/shm/mine", "w")
tried(locks, good="works")""",
    "Unix sockets of its own, as multiprocessing's managers use them": """
def own():
    listener = socket.socket(socket.AF_UNIX); listener.bind("mine.sock"); listener.listen()
    socket.socket(socket.AF_UNIX).connect("mine.sock"); listener.accept()
tried(own, good="works")""",
    "change the mode of its own files": """
open("mine", "w").close(); os.chmod("mine", 0o751)
print("works" if os.stat("mine").st_mode & 0o777 == 0o751 else "no effect")""",
}
