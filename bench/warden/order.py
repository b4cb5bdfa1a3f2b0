"""What the warden is asked to do. Plain classes: ``dataclasses`` alone would double its start."""

MEGA = 1024 * 1024


class Order:
    """One program, and how to wall it in. Everything is decided by whoever asks."""

    __slots__ = (
        "argv",
        "collect",
        "covers",
        "cpu_s",
        "environment",
        "file_mb",
        "files",
        "links",
        "looked_at",
        "memory_bytes",
        "memory_limit",
        "output_bytes",
        "processes",
        "scratch",
        "stdin",
        "user",
        "wall_s",
        "walls",
    )
    walls: str
    """``namespaces``, ``landlock`` or ``seatbelt``."""
    argv: list[str]
    """The interpreter's real path first."""
    environment: dict[str, str]
    files: dict[str, bytes]
    stdin: bytes
    collect: bool
    looked_at: list[str]
    """Real paths that can be read and executed, at the same place."""
    links: list[tuple[str, str]]
    """Symbolic links of the root: path and target."""
    covers: list[str]
    """Folders below those that are to be empty."""
    scratch: str
    """Where a folder can be made, for walls without a file system of their own."""
    user: int | None
    """User and group to become; ``None`` = stay who we are."""
    wall_s: float
    cpu_s: float
    memory_bytes: int
    memory_limit: str | None
    """``AS`` or ``DATA``: which limit of one process to set where no group counts them all."""
    processes: int
    file_mb: int
    output_bytes: int

    def __init__(self, fields: dict[str, object]) -> None:
        for name in self.__slots__:
            setattr(self, name, fields[name])

    @property
    def is_alone(self) -> bool:
        """Whether no PID namespace is around the program: then it starts no other process."""
        return self.walls != "namespaces"

    @property
    def file_bytes(self) -> int:
        """The largest file."""
        return self.file_mb * MEGA


class Refused(Exception):
    """Nothing was run; the text says why."""
