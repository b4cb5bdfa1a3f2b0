"""Which system calls a hostile program may make: a filter for the kernel, as bytes. Pure.

What is listed here is refused. So is every call newer than the newest one that was looked at:
those answer ``ENOSYS``, as on an older kernel, and libraries go another way.
"""

import errno
import struct
from collections.abc import Iterable

# Name → (x86_64, aarch64); None = that architecture has no such call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # other processes, and their memory
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "kcmp": (312, 272),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # network; pairs of sockets stay, event loops need them
    "socket": (41, 198),
    # kernel surface that no task needs
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "personality": (135, 92),
    "vmsplice": (278, 75),
    "lookup_dcookie": (212, 18),
    "syslog": (103, 116),
    "uselib": (134, None),
    "ustat": (136, None),
    # memory that no limit of a process counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    # queues and semaphores outlive their maker, and are reached by a number that can be guessed
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # namespaces, mounts, files by handle
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    # the machine itself
    "acct": (163, 89),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "settimeofday": (164, 170),
    "create_module": (174, None),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "get_kernel_syms": (177, None),
    "query_module": (178, None),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "ioperm": (173, None),
    "iopl": (172, None),
    "nfsservctl": (180, 42),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "vhangup": (153, 58),
    # other processes' share of the machine
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
}
_CLONE, _FORK, _VFORK = (56, 220), (57, None), (58, None)
_CLONE3 = 435
_KILL, _TGKILL = (62, 129), (234, 131)
# Their first argument is a process: only 0 or the program itself.
_OF_ONE_PROCESS = ((302, 261), (203, 122), (144, 119), (142, 118), (314, 274))
"""prlimit64 and the setters of scheduling."""
_REFUSED_ALONE: dict[str, tuple[int | None, int | None]] = {
    # signals to others
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    # what Landlock does not hold: it knows of contents and names, `truncate` only since Linux 6.2
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "truncate": (76, 45),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
}
_SOCKETPAIR, _STREAM, _KINDS = (53, 199), 1, 0xF
"""The ends of a pair of datagrams may send to any name; those of a stream only to each other."""
_SETS_OWNER = (((72, 25), (8, 15)), ((16, 29), (0x8901, 0x8902)))
"""``fcntl`` and ``ioctl`` with those that say whose process a descriptor signals."""
_NEWEST = 452
"""``fchmodat2`` of Linux 6.6."""
_NEW_NAMESPACES = 0x7E02_0000
_THREAD = 0x0001_0000
_AUDIT = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}

_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_MASK = 0x54
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT, _SECOND_ARGUMENT_AT = 0, 4, 16, 24
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF_0000, 0x8000_0000, 0x0005_0000


def call_filter(machine: str, *, program: int, is_alone: bool) -> bytes:
    """Return the BPF program for a machine (``os.uname().machine``).

    Args:
        machine: ``x86_64`` or ``aarch64``.
        program: PID of the program, as it sees it.
        is_alone: No namespace is around it: it starts no process but threads, signals none but
            itself, and leaves alone what belongs to files beside their content.
    """
    column = _COLUMN[machine]
    lines = [
        _load(_MACHINE_AT),
        _jump(_EQUAL, _AUDIT[machine], yes=1, no=0),
        _answer(_KILL_PROCESS),  # 32-bit calls have other numbers
        _load(_NUMBER_AT),
        *_when(_GREATER, _NEWEST, errno.ENOSYS),
        *_when(_EQUAL, _CLONE3, errno.ENOSYS),  # its flags lie in memory, out of a filter's sight
    ]
    refused = dict(_REFUSED)
    if is_alone:
        refused |= _REFUSED_ALONE
    for number in _numbers(refused.values(), column):
        lines += _when(_EQUAL, number, errno.EPERM)
    if is_alone:
        for number in _numbers((_FORK, _VFORK), column):
            lines += _when(_EQUAL, number, errno.EAGAIN)
        lines += _only_streams(_SOCKETPAIR[column])
        for call, orders in _SETS_OWNER:
            lines += _unless_ordered(call[column], orders)
    for number in _numbers((*_OF_ONE_PROCESS, *((_KILL, _TGKILL) if is_alone else ())), column):
        lines += _unless_about(number, program)
    lines += _clone(_CLONE[column], only_threads=is_alone)
    lines.append(_answer(_ALLOW))
    return b"".join(lines)


def _numbers(calls: Iterable[tuple[int | None, int | None]], column: int) -> list[int]:
    return sorted(number for call in calls if (number := call[column]) is not None)


def _load(at: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, at)


def _jump(test: int, value: int, *, yes: int, no: int) -> bytes:
    return struct.pack("=HBBI", test, yes, no, value)


def _answer(action: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, action)


def _when(test: int, value: int, number: int) -> tuple[bytes, bytes]:
    return _jump(test, value, yes=0, no=1), _answer(_ERRNO | number)


def _unless_about(call: int, program: int) -> list[bytes]:
    return [
        _jump(_EQUAL, call, yes=0, no=5),
        _load(_FIRST_ARGUMENT_AT),
        _jump(_EQUAL, 0, yes=1, no=0),
        _jump(_EQUAL, program, yes=0, no=1),
        _answer(_ALLOW),
        _answer(_ERRNO | errno.EPERM),
    ]


def _only_streams(call: int) -> list[bytes]:
    return [
        _jump(_EQUAL, call, yes=0, no=5),
        _load(_SECOND_ARGUMENT_AT),
        struct.pack("=HBBI", _MASK, 0, 0, _KINDS),
        _jump(_EQUAL, _STREAM, yes=0, no=1),
        _answer(_ALLOW),
        _answer(_ERRNO | errno.EPERM),
    ]


def _unless_ordered(call: int, orders: Iterable[int]) -> list[bytes]:
    tests = [line for one in orders for line in _when(_EQUAL, one, errno.EPERM)]
    lines = [_load(_SECOND_ARGUMENT_AT), *tests, _answer(_ALLOW)]
    return [_jump(_EQUAL, call, yes=0, no=len(lines)), *lines]


def _clone(call: int, *, only_threads: bool) -> list[bytes]:
    flags = [_load(_FIRST_ARGUMENT_AT), *_any(_NEW_NAMESPACES, errno.EPERM)]
    if only_threads:
        flags += [_jump(_ANY_BIT, _THREAD, yes=1, no=0), _answer(_ERRNO | errno.EAGAIN)]
    return [_jump(_EQUAL, call, yes=0, no=len(flags)), *flags]


def _any(bits: int, number: int) -> tuple[bytes, bytes]:
    return _jump(_ANY_BIT, bits, yes=0, no=1), _answer(_ERRNO | number)
