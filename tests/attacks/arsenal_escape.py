"""Attacks on the walls: network, other processes, mounts, files outside. What succeeds is printed as PWNED."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import STOCK_DANGER, STOCK_NETWORK, cell_attack

_escape = partial(cell_attack, "escape", keeps=True, stock=STOCK_NETWORK)

TRY = """
import os, sys, socket, ctypes, subprocess, signal, errno, stat
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, do, good=lambda result: True):
    try: result = do()
    except Exception as error: print(what, "->", type(error).__name__); return None
    if good(result): print("PW" + "NED:", what, result)
    else: print(what, "-> errno", ctypes.get_errno())
    return result
zero = lambda result: result == 0
some = lambda result: result >= 0
"""

ATTACKS = [
    _escape(
        "kills_others",
        "signals every process that it can name",
        TRY
        + """
for pid in (@VICTIM@, os.getppid()):
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        if pid > 1: attempt(f"kill {pid} with {number}", lambda: os.kill(pid, number))
for pid in range(2, 3000):
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass
try: os.kill(-1, signal.SIGKILL)
except OSError: pass
""",
        expects=(
            "failed",
            "error",
            "killed",
            "out of memory",
        ),  # without a PID namespace it may name itself, and the kernel's
        # signal for too much memory is the one that it sends
        stock=STOCK_DANGER,
    ),
    _escape(
        "traces_others",
        "attaches to other processes as a debugger",
        TRY
        + """
for pid in (os.getppid(), @VICTIM@, 1, 2):
    attempt(f"ptrace {pid}", lambda: libc.ptrace(16, pid, 0, 0), zero)
attempt("traceme", lambda: libc.ptrace(0, 0, 0, 0), zero)
""",
        stock=STOCK_DANGER,
    ),
    _escape(
        "mounts",
        "mounts, remounts and unmounts",
        TRY
        + """
os.makedirs("m", exist_ok=True)
attempt("tmpfs", lambda: libc.mount(b"none", b"m", b"tmpfs", 0, None), zero)
attempt("proc", lambda: libc.mount(b"proc", b"m", b"proc", 0, None), zero)
attempt("bind", lambda: libc.mount(b"/", b"m", None, 4096, None), zero)
attempt("writable", lambda: libc.mount(b"none", b"/usr", None, 32 | 4096, None), zero)
attempt("umount proc", lambda: libc.umount2(b"/proc", 2), zero)
attempt("umount tmp", lambda: libc.umount2(b"/tmp", 2), zero)
for number in (428, 429, 430, 431, 432, 442): attempt(f"mount call {number}", lambda: libc.syscall(ctypes.c_long(number), -1, b"/", 1, 0, 0), some)
attempt("pivot_root", lambda: libc.syscall(ctypes.c_long(155), b".", b"m"), zero)
""",
    ),
    _escape(
        "new_namespaces",
        "makes namespaces in which it is root, to undo what was done",
        TRY
        + """
for name, flag in {"user": 0x10000000, "mount": 0x20000, "net": 0x40000000, "pid": 0x20000000}.items():
    attempt("unshare " + name, lambda: libc.unshare(flag), zero)
    attempt("clone " + name, lambda: libc.syscall(ctypes.c_long(56), flag | 17, 0, 0, 0, 0), lambda pid: pid > 0)
attempt("clone3", lambda: libc.syscall(ctypes.c_long(435), ctypes.create_string_buffer((0x10000000).to_bytes(8, "little") + bytes(80)), 88), some)
attempt("setns", lambda: libc.setns(os.open("/proc/1/ns/mnt", os.O_RDONLY), 0), zero)
attempt("unshare program", lambda: subprocess.run(["unshare", "-Ur", "true"], capture_output=True).returncode, zero)
""",
    ),
    _escape(
        "changes_root",
        "leaves its file tree by chroot, dot-dot and file handles",
        TRY
        + """
os.makedirs("jail", exist_ok=True)
attempt("chroot", lambda: os.chroot("jail"))
attempt("dot-dot", lambda: os.listdir("../" * 40 + "@ROOT@".lstrip("/")))
attempt("handle", lambda: libc.name_to_handle_at(-100, b"/usr", ctypes.create_string_buffer(b"\\x80" + bytes(200)), ctypes.create_string_buffer(8), 0), zero)
attempt("open_by_handle_at", lambda: libc.open_by_handle_at(-100, ctypes.create_string_buffer(b"\\x08\\0\\0\\0\\x01\\0\\0\\0\\x02" + bytes(200)), 0), some)
attempt("old root", lambda: os.listdir("/old"))
""",
    ),
    _escape(
        "becomes_root",
        "becomes root by set-user-id programs, capabilities and identities",
        TRY
        + """
for number in (0, 65534):
    if number != os.getuid(): attempt(f"setuid {number}", lambda: os.setuid(number))
rights = ctypes.create_string_buffer(24)
header = bytes([0x22, 5, 8, 0x20, 0, 0, 0, 0])
attempt("capabilities", lambda: libc.capget(header, rights) or any(rights.raw), bool)
program = f"import ctypes; r = ctypes.create_string_buffer(24); ctypes.CDLL(None).capget({header!r}, r); print(any(r.raw))"
attempt("capabilities of a program", lambda: subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, timeout=2).stdout, lambda said: b"True" in said)
for command in (["su", "-c", "id"], ["sudo", "-n", "id"], ["mount", "/dev/sda1", "m"], ["newuidmap", "1"], ["passwd", "-d", "root"]):
    attempt(" ".join(command), lambda: subprocess.run(command, capture_output=True, timeout=1, stdin=subprocess.DEVNULL).returncode, zero)
with open("suid", "w") as file: file.write("#!/bin/sh\\nid\\n")
attempt("chown", lambda: os.chown("suid", 0, 0))
attempt("capset", lambda: libc.capset(ctypes.create_string_buffer(b"\\x22\\x05\\x08\\x20" + bytes(4)), ctypes.create_string_buffer(b"\\xff" * 24)), zero)
""",
    ),
    _escape(
        "raises_limits",
        "raises its own limits and lowers its niceness",
        TRY
        + """
import resource
for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE"):
    kind = getattr(resource, name)
    attempt(name, lambda: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
attempt("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))
attempt("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -10))
attempt("seccomp", lambda: libc.prctl(22, 0, 0, 0, 0), zero)
attempt("new privileges", lambda: libc.prctl(38, 0, 0, 0, 0), zero)
""",
    ),
    _escape(
        "makes_devices",
        "makes device nodes and reads the disk through them",
        TRY
        + """
for name, major, minor in (("disk", 254, 0), ("sda", 8, 0), ("mem", 1, 1), ("kmsg", 1, 11)):
    attempt("mknod " + name, lambda: os.mknod(name, stat.S_IFBLK | 0o600, os.makedev(major, minor)))
for path in ("/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/tty", "/dev/pts/0", "/dev/fuse", "/dev/kvm", "/dev/ptmx"):
    attempt("open " + path, lambda: os.open(path, os.O_RDWR | os.O_NONBLOCK))
""",
    ),
    _escape(
        "links_out_of_scratch",
        "reads and writes through links that lead out of its folder",
        TRY
        + """
for number, target in enumerate(("@ROOT@", "@HOME@", "/proc/1/root", "/proc/self/cwd/../..", "/srv")):
    os.symlink(target, f"out{number}")
    attempt("list " + target, lambda: os.listdir(f"out{number}"), lambda names: bool(set(names) - {".venv", "course"}))
    attempt("write " + target, lambda: open(f"out{number}/pwned-link", "w"))
""",
        stock=STOCK_DANGER,
    ),
    _escape(
        "writes_outside",
        "writes into the course, the interpreter, its packages, and the system",
        TRY
        + """
import course, site, tempfile
places = ["@ROOT@", "@ROOT@/source", "@HOME@", os.path.dirname(course.__file__), os.path.dirname(course.__file__) + "/__pycache__",
          os.path.dirname(torch.__file__), *site.getsitepackages(), sys.prefix, sys.base_prefix, sys.prefix + "/bin", "/", "/etc", "/usr",
          "/usr/bin", "/var/tmp", "/dev", "/dev/shm", "/run", "/proc", "/srv", "/root"]
for place in places:
    attempt("write " + place, lambda: open(place + "/pwned-outside", "w"))
for path in ("@ROOT@/gradebook.db", course.__file__, torch.__file__, sys.executable, "/etc/passwd"):
    attempt("change " + path, lambda: open(path, "ab"))
    def mode(): os.chmod(path, 0o4777); return stat.S_IMODE(os.stat(path).st_mode)
    attempt("mode " + path, mode, lambda mode: mode == 0o4777)
    attempt("remove " + path, lambda: os.unlink(path))
""",
        stock=STOCK_DANGER,
    ),
    _escape(
        "far_reaching_calls",
        "tries kernel interfaces that sandboxes forget",
        TRY
        + """
for name, number in dict(bpf=321, userfaultfd=323, io_uring_setup=425, perf_event_open=298, memfd_create=319, memfd_secret=447,
    kexec_load=246, init_module=175, fanotify_init=300, inotify_init=253, pidfd_getfd=438, personality=135, quotactl=179, swapon=167,
    reboot=169, add_key=248, request_key=249, syslog=103, io_setup=206, acct=163, settimeofday=164, sethostname=170, iopl=172,
    lookup_dcookie=212, vhangup=153, migrate_pages=256).items():
    args = {"syslog": (3, ctypes.create_string_buffer(100), 100), "io_setup": (10, ctypes.byref(ctypes.c_ulong())), "memfd_create": (b"x", 0),
            "personality": (8,), "kexec_load": (0, 0, 0, 0), "vhangup": (-1,)}.get(name, (0, 0, 0, 0, 0))
    attempt(name, lambda: libc.syscall(ctypes.c_long(number), *args), some)
""",
        stock=STOCK_DANGER,
    ),
    _escape(
        "calls_of_another_kind",
        "makes system calls by the 32-bit gate, which filters may not look at",
        TRY
        + """
import mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
result = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
print("PW" + "NED: the 32-bit gate is open", result)
""",
        expects=("killed",),
        stock=STOCK_DANGER,
    ),
    _escape(
        "x32_calls",
        "makes system calls by their x32 numbers",
        TRY
        + """
attempt("x32 socket", lambda: libc.syscall(ctypes.c_long(0x40000000 | 41), 2, 1, 0), some)
attempt("x32 unshare", lambda: libc.syscall(ctypes.c_long(0x40000000 | 272), 0x10000000), zero)
attempt("x32 ptrace", lambda: libc.syscall(ctypes.c_long(0x40000000 | 521), 16, 1, 0, 0), zero)
""",
        stock=STOCK_DANGER,
    ),
]
