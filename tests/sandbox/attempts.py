"""Ways out of the walls, as Python: each returns where it gets through. None harms what it reaches."""

BEGIN = """
import os, socket, sys, ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result
def home_entries(home):
    # the room may have an interpreter at the path that it has outside
    found = [n for n in os.listdir(home) if not sys.executable.startswith(f"{sys.argv[2]}/{n}/")]
    if not found:
        raise OSError("nothing of the home is there")
    return found
def text_of_a_package():
    import glob, sysconfig
    folder = sysconfig.get_path("purelib", vars={"base": sys.base_prefix})
    for path in sorted(glob.glob(f"{folder}/**/*.py", recursive=True)):
        return open(path).read()
    raise OSError("there are no packages")
top = os.open(".", os.O_RDONLY)
attempts = {}
"""
END = """
for number, (name, attempt) in enumerate(attempts.items()):
    os.mkdir(f"own{number}")
    os.chdir(f"own{number}")
    try:
        said = f"ESCAPED: {attempt()}"
    except (OSError, ImportError, AttributeError, KeyError) as refused:
        said = f"contained: {refused}"
    print(json.dumps([name, said]), flush=True)
    os.fchdir(top)
"""


def program_of(attempts: dict[str, str]) -> str:
    """Return one program that makes the attempts one after another, each in a folder of its own."""
    parts = [BEGIN]
    for number, (name, body) in enumerate(attempts.items()):
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        parts.append(f"def attempt_{number}():\n{lines}\nattempts[{name!r}] = attempt_{number}\n")
    return "".join([*parts, END])


READING = {
    "passwords": "return open('/etc/passwd').read()",
    "shadow": "return open('/etc/shadow').read()",
    "environ of the parent": "return open(f'/proc/{os.getppid()}/environ', 'rb').read()[0]",
    "environ of who asked": "return open(f'/proc/{sys.argv[1]}/environ', 'rb').read()[0]",
    "home": "return home_entries(sys.argv[2])",
    "home by ..": "return home_entries('../' * 20 + sys.argv[2])",
    "package beside the interpreter": "return text_of_a_package()",
    "canary": "return open(sys.argv[3]).read()",
    "canary by a symbolic link": "os.symlink(sys.argv[3], 'link'); return open('link').read()",
    "canary by a hard link": "os.link(sys.argv[3], 'link'); return open('link').read()",
    "canary by a root of a process": "return open('/proc/1/root' + sys.argv[3]).read()",
    "canary by an open folder": "return open('/proc/self/fd/../../1/cwd' + sys.argv[3]).read()",
    "kernel log": "return open('/dev/kmsg').read(1)",
    "disk": "return open('/dev/vda', 'rb').read(1) or open('/dev/sda', 'rb').read(1)",
    "memory": "return open('/dev/mem', 'rb').read(1)",
    "terminal": "return open('/dev/tty', 'rb')",
    "fuse": "return open('/dev/fuse', 'rb')",
    "groups": "return os.listdir('/sys/fs/cgroup')",
    "shell": "return os.execv('/bin/sh', ['sh', '-c', 'echo ESCAPED'])",
    "setuid program": "return os.execv('/usr/bin/su', ['su'])",
    "password program": "return os.execv('/usr/bin/passwd', ['passwd'])",
}
WRITING = {
    "home": "return open(sys.argv[2] + '/gwb-escaped', 'w')",
    "beside the canary": "return open(os.path.dirname(sys.argv[3]) + '/escaped', 'w')",
    "through a symbolic link": (
        "os.symlink(os.path.dirname(sys.argv[3]), 'link'); return open('link/escaped', 'w')"
    ),
    "above the folder": "return open('../../escaped', 'w')",
    "root": "return open('/escaped', 'w')",
    "libraries": "return open('/usr/lib/escaped', 'w')",
    "interpreter": "return open(sys.executable, 'r+b')",
    "standard library": "return open(os.__file__, 'r+b')",
    "own memory": "return open('/proc/self/mem', 'r+b')",
    "score of the memory killer": "return open('/proc/self/oom_score_adj', 'w').write('-1000')",
    "core pattern": "return open('/proc/sys/kernel/core_pattern', 'w')",
    "device": "return os.mknod('device', 0o20666, os.makedev(1, 1))",
    "rights of a file": "return os.chmod(sys.argv[3], 0o600)",
    "rights of a file of a folder": (
        "folder = os.open(os.path.dirname(sys.argv[3]), os.O_PATH)\n"
        "return os.chmod('canary', 0o600, dir_fd=folder)"
    ),
    "rights of the interpreter": (
        "one = os.open(sys.executable, os.O_RDONLY)\n"
        "return os.fchmod(one, os.fstat(one).st_mode & 0o7777)"  # changes nothing where it works
    ),
    "owner of a file": "return os.chown(sys.argv[3], -1, -1)",
    "owner of an open file": "return os.fchown(os.open(os.__file__, os.O_RDONLY), -1, -1)",
    "time of a file": "return os.utime(sys.argv[3])",
    "time of an open file": (
        "one = os.open(os.__file__, os.O_RDONLY)\n"
        "stat = os.fstat(one)\n"
        "return os.utime(one, ns=(stat.st_atime_ns, stat.st_mtime_ns))"
    ),
    "attribute of a file": "return os.setxattr(sys.argv[3], 'user.gwb', b'x')",
    "length of a file": "return os.truncate(sys.argv[3], 0)",
    "names in a folder, by watching it": (
        "return call(254, call(253), os.path.dirname(sys.argv[3]).encode(), 0xFFF)"
    ),
    "a program of its own": (
        "open('own', 'wb').write(open(sys.executable, 'rb').read(1 << 20))\n"
        "os.chmod('own', 0o4777)\nreturn os.execv('./own', ['own'])"
    ),
}
DATAGRAM = "one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
"""Such a pair is not held together: each end may send to any name, without a `socket` call."""
NETWORK = {
    "loopback": "return socket.create_connection(('127.0.0.1', int(sys.argv[4])), 2)",
    "loopback of version 6": "return socket.create_connection(('::1', int(sys.argv[4])), 2)",
    "outside": "return socket.create_connection(('192.0.2.1', 80), 2)",
    "names": "return socket.getaddrinfo('example.com', 80)",
    "datagram": (
        "return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))"
    ),
    "raw": "return socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "netlink": "return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "virtual machine": "return socket.socket(40, socket.SOCK_STREAM)",
    "crypto": "return socket.socket(38, socket.SOCK_SEQPACKET)",
    "socket of a path": "s = socket.socket(socket.AF_UNIX); return s.connect(sys.argv[5])",
    "abstract socket": "s = socket.socket(socket.AF_UNIX); return s.connect('\\0' + sys.argv[6])",
    "a server of its own": "return socket.create_server(('127.0.0.1', 0))",
    "a path for a socket": "return socket.socketpair()[0].connect(sys.argv[5])",
    "a path for a datagram of a pair": DATAGRAM + "return one.sendto(b'x', sys.argv[5] + '-log')",
    "a path for a pair of datagrams": DATAGRAM + "return one.connect(sys.argv[5] + '-log')",
    "a path for a pair of packets": (
        "one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "return one.connect(sys.argv[5])"
    ),
    "an abstract name of a pair": DATAGRAM
    + "return one.sendto(b'x', '\\0' + sys.argv[6] + '-log')",
}
OTHERS = {
    "signal to who asked": "return os.kill(int(sys.argv[1]), 0)",
    "kill of who asked": "return os.kill(int(sys.argv[1]), 9)",
    "signal to a neighbour": "return os.kill(int(sys.argv[7]), 15)",
    "signal to a thread of a neighbour": "return call(234, int(sys.argv[7]), int(sys.argv[7]), 15)",
    "handle of a neighbour": "return call(424, os.pidfd_open(int(sys.argv[7])), 15, None, 0)",
    "signal to a neighbour by a pipe": (
        "import fcntl\n"
        "one, two = socket.socketpair()\n"
        "fcntl.fcntl(one, fcntl.F_SETOWN, int(sys.argv[7]))\n"
        "fcntl.fcntl(one, 10, 9)\n"
        "fcntl.fcntl(one, fcntl.F_SETFL, fcntl.fcntl(one, fcntl.F_GETFL) | os.O_ASYNC)\n"
        "return two.send(b'x')"
    ),
    "signal to a neighbour by another name of that": (
        "import fcntl, struct\n"
        "one, two = socket.socketpair()\n"
        "return fcntl.fcntl(one, 15, struct.pack('ii', 1, int(sys.argv[7])))"
    ),
    "signal to a neighbour by a socket": (
        "import fcntl, struct\n"
        "one, two = socket.socketpair()\n"
        "return fcntl.ioctl(one, 0x8901, struct.pack('i', int(sys.argv[7])))"
    ),
    "priority of a neighbour": "return os.setpriority(os.PRIO_PROCESS, int(sys.argv[7]), 19)",
    "limits of a neighbour": (
        "import resource; return resource.prlimit(int(sys.argv[7]), resource.RLIMIT_NOFILE, (1, 1))"
    ),
    "tracing a neighbour": "return call(101, 16, int(sys.argv[7]), None, None)",
    "tracing the parent": "return call(101, 16, os.getppid(), None, None)",
    "memory of the parent": (
        "piece = ctypes.create_string_buffer(8)\n"
        "vector = (ctypes.c_void_p * 2)(ctypes.addressof(piece), 8)\n"
        "return call(310, os.getppid(), vector, 1, vector, 1, 0)"
    ),
    "descriptor of the parent": "return call(438, os.pidfd_open(os.getppid()), 0, 0)",
}
CALLS = {
    "keyctl": "return call(250, 0, -3, 1)",
    "add_key": "return call(248, b'user', b'name', b'value', 5, -3)",
    "io_uring": "return call(425, 8, ctypes.create_string_buffer(120))",
    "bpf": "return call(321, 0, ctypes.create_string_buffer(120), 120)",
    "perf": "return call(298, ctypes.create_string_buffer(120), 0, -1, -1, 0)",
    "userfaultfd": "return call(323, 0)",
    "mount": "return call(165, b'none', b'/box', b'tmpfs', 0, None)",
    "new kind of mount": "return call(430, b'tmpfs', 0)",
    "umount": "return call(166, b'/box', 2)",
    "unshare user": "return call(272, 0x10000000)",
    "unshare mount": "return call(272, 0x20000)",
    "clone into a user namespace": "return call(56, 0x10000000 | 17, None, None, None, None)",
    "clone3": "return call(435, ctypes.create_string_buffer(88), 88)",
    "chroot": "return os.chroot('/box')",
    "pivot_root": "return call(155, b'.', b'.')",
    "memory without a name": "return os.memfd_create('x')",
    "secret memory": "return call(447, 0)",
    "queue of messages": "return call(68, 0x677762, 0o1600)",
    "queue of messages by a guess": "return call(71, 0, 3, ctypes.create_string_buffer(256))",
    "semaphores by a guess": "return call(66, 0, 0, 3, ctypes.create_string_buffer(256))",
    "named queue": "return call(240, b'gwb-escaped', 0o102, 0o600, None)",
    "shared memory": "return call(29, 0, 1 << 20, 0o1600)",
    "kernel module": "return call(175, None, 0, b'')",
    "reboot": "return call(169, 0xfee1dead, 672274793, 0, None)",
    "clock": "return call(227, 0, ctypes.create_string_buffer(16))",
    "host name": "return socket.sethostname('x')",
    "personality": "return call(135, 0x0040000)",
    "file by handle": "return call(304, -100, ctypes.create_string_buffer(16), 0)",
    "calls of 32 bit numbers": "return call(0x40000000 + 41, 2, 1, 0)",
    "a call of the future": "return call(1000)",
    "root": "return os.setuid(0) if os.getuid() else os.setuid(1)",
    "another user": "return os.setresuid(1, 1, 1)",
    "groups": "return os.setgroups([0])",
    "real time": "return os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))",
}
KINDS = {"read": READING, "write": WRITING, "network": NETWORK, "others": OTHERS, "call": CALLS}
ATTEMPTS = {
    f"{kind}-{name}".replace(" ", "-"): body
    for kind, attempts in KINDS.items()
    for name, body in attempts.items()
}
ALONE = {name for name, body in ATTEMPTS.items() if "os.exec" in body}
"""What would become another program, and can't say anything afterwards."""
