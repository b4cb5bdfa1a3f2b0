"""An unfinished paid run of the same plan: paying twice for the same answers must be meant."""

from pathlib import Path

from bench.errors import BenchError, Refused
from bench.journal import read_journal
from bench.shards import is_shard

_NEWEST = 200
"""Journals looked at; a folder with more holds them for other reasons."""
_HEADER_BYTES = 4 * 1024 * 1024


def find_unfinished(folder: Path, *, plan_hash: str, url: str) -> Path | None:
    """Return the newest journal in ``folder`` that asks the same of the same and lacks results.

    Args:
        folder: For results; it need not exist.
        plan_hash: Of the new run.
        url: Where the new run would ask.
    """
    for path in _newest_first(folder):
        if plan_hash.encode() in _first_line(path) and _lacks_results(path, url):
            return path
    return None


def refuse_twice(path: Path, going_on: str) -> Refused:
    """Return the refusal that leaves the choice to a person; `--yes` doesn't answer this.

    Args:
        path: The unfinished journal.
        going_on: The command that goes on with it.
    """
    return Refused(
        f"`{path}` is an unfinished paid run of the same plan",
        hint=f"`{going_on}` asks only what is missing; `--again` pays for all of it",
    )


def _newest_first(folder: Path) -> list[Path]:
    try:
        found = [
            (path.stat().st_mtime_ns, path) for path in folder.glob("*.jsonl") if not is_shard(path)
        ]
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)[:_NEWEST]]


def _first_line(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.readline(_HEADER_BYTES)
    except OSError:
        return b""


def _lacks_results(path: Path, url: str) -> bool:
    try:
        ledger = read_journal(path)
    except BenchError:
        return False
    config = ledger.header.config
    return config.is_paid and config.url == url and bool(ledger.missing)
