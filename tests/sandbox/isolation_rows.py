"""What `docs/engine.md` has in its table, as cells that try it: each prints the word that stands in the page."""

from __future__ import annotations

START = """
import ctypes, errno, fcntl, json, os, signal, socket, subprocess, sys, time
libc, facts = ctypes.CDLL(None, use_errno=True), json.loads(@FACTS@)
folder, victim, shown = facts["folder"], facts["victim"], facts["shown"] + "/data.txt"

def call(number, *arguments):
    if libc.syscall(ctypes.c_long(number), *arguments) < 0: raise OSError(ctypes.get_errno(), "refused")

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

_REACH = {
    "read the course, the gradebook, a home, another submission": """
tried(lambda: open(folder + "/secret").read(), lambda: open(folder + "/facts.json"), lambda: open("/etc/shadow"))""",
    "list a folder that it was not shown": """
tried(lambda: os.listdir(folder), lambda: os.listdir("/home"), lambda: os.listdir("/var/log"), lambda: os.listdir("/proc/1"))""",
    "write outside its own folder": """
tried(lambda: open(folder + "/pwned", "w"), lambda: open(facts["shown"] + "/pwned", "w"), lambda: os.mkdir("/var/tmp/pwned"),
      lambda: open("/dev/shm/pwned", "w"), lambda: os.mkfifo(folder + "/pwned"), lambda: os.symlink("/", facts["shown"] + "/pwned"),
      lambda: open(shown, "a"), lambda: os.link(shown, "linked") or open("linked", "a"))""",
    "empty, rename or remove a file of yours elsewhere": """
tried(lambda: os.truncate(shown, 0), lambda: os.truncate(folder + "/secret", 0), lambda: os.rename(shown, shown + "2"),
      lambda: os.rename(shown, "mine"), lambda: os.unlink(shown), lambda: os.unlink(folder + "/secret"), lambda: os.rmdir(facts["shown"]))""",
    "empty a file that it may read, by opening it": """
def empty():
    os.close(os.open(shown, os.O_RDONLY | os.O_TRUNC)); return os.path.getsize(shown) == 0
tried(empty, lambda: os.open(shown, os.O_RDWR | os.O_TRUNC))""",
    "change mode, dates, owner or attributes of a file of yours": """
def changed(do):
    before = os.stat(shown)
    try: do()
    except OSError as error: return "refused"
    after = os.stat(shown)
    return "changed" if (before.st_mode, before.st_mtime, before.st_uid) != (after.st_mode, after.st_mtime, after.st_uid) else "no effect"
handle = os.open(shown, os.O_RDONLY)
said = {changed(lambda: os.chmod(shown, 0o4777)), changed(lambda: os.fchmod(handle, 0o777)), changed(lambda: os.utime(shown, (1, 1))),
        changed(lambda: os.utime(handle, (1, 1)))}
owned = {changed(lambda: os.chown(shown, os.getuid(), os.getgid())), changed(lambda: os.setxattr(shown, "user.pwned", b"1")),
         changed(lambda: fcntl.ioctl(handle, 0x40086602, (64).to_bytes(8, "little")))}
print(*(said if owned == {"refused"} else said | owned))""",
    "learn whether a path that it knows by name is there": """
tried(lambda: os.stat(folder + "/secret"), lambda: os.path.exists(folder + "/facts.json"))""",
    "open a connection, send a packet, make a network socket": """
tried(lambda: socket.create_connection(("127.0.0.1", facts["port"]), 0.5), lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
      lambda: socket.socket(socket.AF_INET6), lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW), lambda: socket.socket(40))""",
    "reach a Unix socket by its path (Docker, D-Bus, X11, agents)": """
def by_pair():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); one.sendto(b"x", folder + "/sock")
def by_message():
    one, _ = socket.socketpair(); one.sendmsg([b"x"], [], 0, folder + "/sock")
tried(lambda: socket.socket(socket.AF_UNIX).connect(folder + "/sock"), by_pair, by_message,
      lambda: socket.socketpair()[0].connect(folder + "/sock"))""",
    "reach a Unix socket of the abstract namespace": """
def by_pair():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); one.connect("\\0" + facts["abstract"])
tried(lambda: socket.socket(socket.AF_UNIX).connect("\\0" + facts["abstract"]), by_pair)""",
}

_PROCESSES = {
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
      lambda: call(31, 0, 0, 0), lambda: call(250, 0, -3, 1), lambda: call(248, b"user", b"x", b"y", 1, -3), lambda: open("/dev/shm/x", "w"))""",
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
}

_WORKS = {
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
    "write to /tmp by that name": """
tried(lambda: open("/tmp/mine", "w"), good="works")""",
    "Unix sockets of its own, as multiprocessing's managers use them": """
def own():
    listener = socket.socket(socket.AF_UNIX); listener.bind("mine.sock"); listener.listen()
    socket.socket(socket.AF_UNIX).connect("mine.sock"); listener.accept()
tried(own, good="works")""",
    "change the mode of its own files": """
open("mine", "w").close(); os.chmod("mine", 0o751)
print("works" if os.stat("mine").st_mode & 0o777 == 0o751 else "no effect")""",
}

ROWS: dict[str, str] = {**_REACH, **_PROCESSES, **_WORKS}
