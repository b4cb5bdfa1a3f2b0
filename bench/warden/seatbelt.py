"""The walls of macOS: a profile for ``sandbox-exec``. Pure."""

PROGRAM = "/usr/bin/sandbox-exec"
_SYSTEM = (
    "/usr/lib",
    "/System/Library",
    "/System/Volumes/Preboot/Cryptexes/OS",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def profile(*, executable: str, looked_at: list[str], covers: list[str], folder: str) -> str:
    """Return the profile: everything denied but what is listed, no network, no second process.

    Args:
        executable: Real path of the interpreter, the only program that may be started.
        looked_at: Real paths that may be read, with everything below.
        covers: Folders below those that may not; what is said last holds.
        folder: Real path of the working directory: read and written.
    """
    readable = " ".join(f"(subpath {quoted(path)})" for path in (*_SYSTEM, *looked_at, folder))
    devices = " ".join(f"(literal {quoted(path)})" for path in _DEVICES)
    return "\n".join(
        (
            "(version 1)",
            "(deny default)",
            "(deny network*)",
            "(deny process-fork)",
            f"(allow process-exec (literal {quoted(executable)}))",
            "(allow signal (target self))",
            "(allow sysctl-read)",
            '(allow file-read-metadata file-read-data (literal "/"))',
            f"(allow file-read* {readable} {devices})",
            *(f"(deny file-read* (subpath {quoted(path)}))" for path in covers),
            f"(allow file-write* (subpath {quoted(folder)}))",
            f"(allow file-write-data {devices})",
        )
    )


def quoted(path: str) -> str:
    """Return a path as a string of the profile's language."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
