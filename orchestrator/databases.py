"""Which databases an environment names, as hashes: equal hashes are one database. Pure.

Only host, port and name of a database go into its hash, never user or password; neither the
address nor anything else of it is kept.
"""

import hashlib
import posixpath
from collections.abc import Mapping
from urllib.parse import parse_qs, unquote, urlsplit

_PORTS = {
    "postgres": 5432,
    "mysql": 3306,
    "mongodb": 27017,
    "redis": 6379,
    "sqlserver": 1433,
    "clickhouse": 8123,
}
_KINDS = {
    "postgresql": "postgres",
    "mariadb": "mysql",
    "mongodb+srv": "mongodb",
    "rediss": "redis",
    "valkey": "redis",
    "mssql": "sqlserver",
    "cockroachdb": "postgres",
}
_FILES = frozenset({"sqlite", "sqlite3", "file", "libsql"})
_LOOPBACK = frozenset({"", "localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104  # compared only
# Families of variables: kind, and the endings that give host, port and name.
_FAMILIES = (
    ("postgres", "PG", "HOST", "PORT", "DATABASE"),
    ("postgres", "POSTGRES_", "HOST", "PORT", "DB"),
    ("mysql", "MYSQL_", "HOST", "PORT", "DATABASE"),
    ("any", "DB_", "HOST", "PORT", "NAME"),
    ("any", "DATABASE_", "HOST", "PORT", "NAME"),
)
_DIGITS = 16


def named_databases(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """Return the hash of each database by the variable that names it.

    Args:
        environment: The gateway's whole one.
        folder: Its working directory: where a relative file name begins.
    """
    found = {}
    for name, value in environment.items():
        address = _of_url(value, folder)
        if address is not None:
            found[name] = _hash(address)
    for kind, prefix, host, port, database in _FAMILIES:
        named = environment.get(prefix + database)
        if named:
            # A name without a host is the default one: this machine.
            where = (environment.get(prefix + host, ""), environment.get(prefix + port, ""))
            found[prefix + database] = _hash(_address(kind, *where, named))
    return dict(sorted(found.items()))


def _of_url(value: str, folder: str) -> str | None:
    scheme, separator, rest = value.partition(":")
    kind = scheme.lower().partition("+")[0] if scheme.lower() not in _KINDS else scheme.lower()
    kind = _KINDS.get(kind, kind)
    if not separator or kind not in _PORTS.keys() | _FILES:
        return None
    if kind in _FILES:
        return _file(rest, folder)
    try:
        parts = urlsplit(f"x:{rest}")
        host, port = parts.hostname or "", parts.port
    except ValueError:  # several hosts, or no port number
        return f"{kind}|{rest.rpartition('@')[2]}"
    asked = parse_qs(parts.query)
    if not parts.netloc and "host" not in asked:
        return None
    host = asked.get("host", [host])[0]
    schema = asked.get("schema", [""])[0]
    return _address(kind, host, str(port or ""), f"{unquote(parts.path).strip('/')}/{schema}")


def _file(rest: str, folder: str) -> str | None:
    """Return a database file by its path; one in memory is nobody else's."""
    path = unquote(rest.partition("?")[0])
    if path.startswith("//"):
        path = path[2:].partition("/")[2]  # after two slashes comes a host, here an empty one
    if not path or ":memory:" in path:
        return None
    return f"file|{posixpath.normpath(posixpath.join(folder, path))}"


def _address(kind: str, host: str, port: str, name: str) -> str:
    here = "loopback" if host.lower() in _LOOPBACK else host.lower()
    usual = _PORTS.get(kind)
    return f"{kind}|{here}|{port or usual or ''}|{name.rstrip('/')}"


def _hash(address: str) -> str:
    return hashlib.sha256(address.encode(errors="surrogateescape")).hexdigest()[:_DIGITS]
