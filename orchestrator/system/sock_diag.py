"""Ask Linux for listening sockets alone.

Reading ``/proc/net/tcp`` walks the kernel's whole table of connections, whatever is in it: several
milliseconds each time. The socket diagnosis of netlink (sock_diag(7)) walks only the listeners.
"""

import contextlib
import socket
import struct

_SOCK_DIAG = 4  # NETLINK_SOCK_DIAG
_BY_FAMILY = 20  # SOCK_DIAG_BY_FAMILY
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_DONE = 3
_LISTEN_STATE = 1 << 10
_HEADER = struct.Struct("=IHHII")
# family, protocol, extensions, padding, states; then source port, and the rest of the socket's name
_REQUEST = struct.Struct("=BBBBI2s46x")
_INODE = struct.Struct("=I")
_INODE_AT = 68  # in struct inet_diag_msg of linux/inet_diag.h
_TIMEOUT_S = 1.0


def listening_inodes(port: int) -> frozenset[int] | None:
    """Return the inodes of all sockets that listen on a port; ``None`` = this system can't tell."""
    found: set[int] = set()
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as asked:
            asked.settimeout(_TIMEOUT_S)
            for family in (socket.AF_INET, socket.AF_INET6):
                inodes = _dumped(asked, family, port)
                if inodes is None:
                    return None
                found |= inodes
    except (OSError, AttributeError):  # no netlink: a sandbox, or another kernel
        return None
    return frozenset(found)


def _dumped(asked: socket.socket, family: int, port: int) -> set[int] | None:
    request = _REQUEST.pack(
        family, socket.IPPROTO_TCP, 0, 0, _LISTEN_STATE, port.to_bytes(2, "big")
    )
    size = _HEADER.size + len(request)
    asked.send(_HEADER.pack(size, _BY_FAMILY, _DUMP, 1, 0) + request)
    found: set[int] = set()
    while True:
        data = asked.recv(1 << 16)
        while len(data) >= _HEADER.size:
            length, kind, *_ = _HEADER.unpack_from(data)
            if kind == _DONE:
                return found
            if kind != _BY_FAMILY or length < _HEADER.size:
                return None
            with contextlib.suppress(struct.error):
                found.add(_INODE.unpack_from(data, _HEADER.size + _INODE_AT)[0])
            data = data[(length + 3) & ~3 :]
