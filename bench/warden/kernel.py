"""System calls that Python does not wrap; each raises ``OSError`` with its name. Linux, 64 bit.

What only tightens a leash (``adopt_orphans``, ``die_with_parent``, ``hide_memory``) does nothing
elsewhere.
"""

import ctypes
import os
import sys

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

NEW_NAMESPACE = {
    "mount": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "network": 0x40000000,
}

# The same on every architecture: calls from number 424 on share one table.
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
MACHINES = frozenset(_PIVOT_ROOT)

_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
NO_SETUID, NO_DEVICES, NO_PROGRAMS = 0x2, 0x4, 0x8
_MNT_DETACH = 2
_OPEN_TREE_CLONE, _AT_RECURSIVE, _AT_EMPTY_PATH = 1, 0x8000, 0x1000
_ATTR_READ_ONLY = 0x1
_AT_FDCWD = -100
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 22, 38, 47
_SECCOMP_MODE_FILTER, _AMBIENT_CLEAR_ALL = 2, 4
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION_3 = 0x20080522


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(number: int, what: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char]) -> int:
    passed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *passed), what)


def unshare(*namespaces: str) -> None:
    """Leave the named namespaces for new ones."""
    flags = 0
    for name in namespaces:
        flags |= NEW_NAMESPACE[name]
    _checked(_libc.unshare(flags), f"unshare {' '.join(namespaces)}")


def keep_mounts_apart() -> None:
    """Let no mount of this namespace reach another one."""
    _mount(b"none", "/", None, _MS_REC | _MS_PRIVATE, None)


def mount_memory(at: str, *, flags: int, options: str) -> None:
    """Mount a file system that lies in memory."""
    _mount(b"tmpfs", at, b"tmpfs", NO_SETUID | flags, options.encode())


def _mount(source: bytes, at: str, kind: bytes | None, flags: int, data: bytes | None) -> None:
    result = _libc.mount(source, os.fsencode(at), kind, ctypes.c_ulong(flags), data)
    _checked(result, f"mount {at}")


def take_tree(path: str, *, flags: int) -> int:
    """Return a descriptor of a copy of what is mounted at ``path``: read-only, with ``flags``.

    Everything mounted below comes along, and read-only too.
    """
    tree = _syscall(
        _OPEN_TREE,
        f"open_tree {path}",
        _AT_FDCWD,
        os.fsencode(path),
        _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC,
    )
    _set_attributes(tree, "", _ATTR_READ_ONLY | flags, _AT_EMPTY_PATH | _AT_RECURSIVE)
    return tree


def make_read_only(path: str) -> None:
    """Let nobody write at this mount any more."""
    _set_attributes(_AT_FDCWD, path, _ATTR_READ_ONLY, 0)


def _set_attributes(folder: int, path: str, attributes: int, flags: int) -> None:
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    buffer = ctypes.create_string_buffer(bytes(wanted), 32)
    _syscall(_MOUNT_SETATTR, f"mount_setattr {path}", folder, os.fsencode(path), flags, buffer, 32)


def put_tree(tree: int, at: str) -> None:
    """Mount what ``take_tree`` took."""
    from_empty_path = 4
    name = f"move_mount {at}"
    _syscall(_MOVE_MOUNT, name, tree, b"", _AT_FDCWD, os.fsencode(at), from_empty_path)


def enter_as_root(folder: str) -> None:
    """Make a mounted folder the root; nothing of the old one can be reached afterwards."""
    os.chdir(folder)
    _syscall(_PIVOT_ROOT[os.uname().machine], "pivot_root", b".", b".")
    _checked(_libc.umount2(b".", _MNT_DETACH), "umount2 of the old root")
    os.chdir("/")


def die_with_parent(number: int) -> None:
    """Receive signal ``number`` when the parent ends."""
    _prctl("PDEATHSIG", _PR_SET_PDEATHSIG, number)


def hide_memory() -> None:
    """Let no process of the same user read or trace this one."""
    _prctl("DUMPABLE", _PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Become the parent of what our children leave behind."""
    _prctl("CHILD_SUBREAPER", _PR_SET_CHILD_SUBREAPER, 1)


def gain_nothing() -> None:
    """Let no program that is started later have more rights than this process (setuid files)."""
    _prctl("NO_NEW_PRIVS", _PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Give up every capability, for good. Without effect where there is none."""
    for number in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0)  # EINVAL past the last one
    _libc.prctl(_PR_CAP_AMBIENT, ctypes.c_ulong(_AMBIENT_CLEAR_ALL), 0, 0, 0)
    header = ctypes.create_string_buffer(bytes((ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)), 8)
    nothing = ctypes.create_string_buffer(24)
    _syscall(_CAPSET[os.uname().machine], "capset", header, nothing)


def _prctl(what: str, option: int, value: int) -> None:
    if sys.platform != "linux":
        return
    result = _libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), 0, 0)
    _checked(result, f"prctl {what}")


def filter_calls(program: bytes) -> None:
    """Let the kernel judge each system call by a BPF program; needs ``gain_nothing`` before."""
    buffer = ctypes.create_string_buffer(program, len(program))

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("at", ctypes.c_void_p))

    wanted = Filter(len(program) // 8, ctypes.addressof(buffer))
    result = _libc.prctl(
        _PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(wanted), 0, 0
    )
    _checked(result, "seccomp")


def landlock_version() -> int:
    """Return the version of Landlock, 0 where there is none."""
    only_version = 1
    found = _libc.syscall(
        ctypes.c_long(_LANDLOCK_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(only_version)
    )
    return max(0, int(found))


def landlock_ruleset(attributes: bytes) -> int:
    """Return the descriptor of a new rule set."""
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return _syscall(_LANDLOCK_CREATE, "landlock", buffer, len(attributes), 0)


def landlock_allow(ruleset: int, rule: bytes) -> None:
    """Add one rule about a path (rights and descriptor, packed)."""
    path_beneath = 1
    buffer = ctypes.create_string_buffer(rule, len(rule))
    _syscall(_LANDLOCK_ADD, "landlock rule", ruleset, path_beneath, buffer, 0)


def landlock_enforce(ruleset: int) -> None:
    """Hold this process, and all it starts, to the rules; for good."""
    _syscall(_LANDLOCK_RESTRICT, "landlock", ruleset, 0)
