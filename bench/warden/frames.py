"""What the walled side tells, on a pipe that the hostile program never has. Pure.

``S`` started (PID), ``R`` refused (why), ``E`` ended (how), ``F`` one file (path, NUL, content),
``.`` nothing more follows. Read without trust: lengths are bounded, unknown letters are a fault.
"""

import struct

STARTED = struct.Struct("=i")
ENDED = struct.Struct("=iQQQ?")
"""Wait status, processor ns, first and last stamp of the clock, whether a file limit was met."""
_HEAD = struct.Struct("=cI")
_KINDS = b"SREF."
LARGEST = 64 * 1024 * 1024


def frame(kind: bytes, content: bytes = b"") -> bytes:
    """Return one frame."""
    return _HEAD.pack(kind, len(content)) + content


class Frames:
    """Bytes in, whole frames out."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, received: bytes) -> list[tuple[bytes, bytes]]:
        """Return the frames that ``received`` completes.

        Raises:
            ValueError: That is not what our side writes.
        """
        self._held += received
        found = []
        while len(self._held) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._held)
            if kind not in _KINDS or length > LARGEST:
                message = f"a frame of kind {kind!r} and {length} bytes"
                raise ValueError(message)
            end = _HEAD.size + length
            if len(self._held) < end:
                break
            found.append((kind, bytes(self._held[_HEAD.size : end])))
            del self._held[:end]
        return found
