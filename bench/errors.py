"""What can break a benchmark run. A failed trial is a result, not an error.

BenchError (1)
├── UsageFault (2)            wrong option, file, model, case, URL
│   ├── UnknownName           with near matches
│   ├── ConfigFaults          every fault of the settings at once
│   ├── KeyMissing
│   └── ForeignReports        another version made what would be overwritten
├── KeyRejected (2)           the first answer said 401/403
├── NothingListed (5)         a gateway did not say what models it has
├── Interrupted (130)         Ctrl-C once more, where the run could not heed it
├── JournalUnwritable (5)     disk full, folder gone
├── JournalUnreadable (2)     not a journal, a newer version, no header
├── LoadProcessLost (5)       one of several senders is gone
├── ClusterUnusable (2)       no such Ray cluster, or no room on it
└── Refused (7)               a person has to say yes

Exit codes are in docs/errors.md. Each class takes values and builds its own sentence; the hint is
separate and names the next step.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from shlex import quote


class BenchError(Exception):
    """Something ended the command."""

    exit_code = 1
    retryable = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageFault(BenchError):
    """The command or its configuration asks for something that can't be."""

    exit_code = 2


class NothingListed(BenchError):
    """A gateway that was asked for its models gave no list."""

    exit_code = 5
    retryable = True

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"no list of models: {problem}",
            hint="`--catalogue FILE` lists your own; `bench` takes a model that no list has",
        )


class UnknownName(UsageFault):
    """A name that no list knows."""

    def __init__(self, kind: str, name: str, known: Sequence[str], *, listed_by: str) -> None:
        near = get_close_matches(name, known, n=3, cutoff=0.5)
        meant = f"; did you mean {' or '.join(f'`{match}`' for match in near)}?" if near else ""
        super().__init__(f"no {kind} `{name}`{meant}", hint=f"`{listed_by}` lists what there is")
        self.near = near


class ConfigFaults(UsageFault):
    """Settings that can't be, from wherever they came; all of them in one message."""

    def __init__(self, faults: Sequence[str]) -> None:
        listed = faults[0] if len(faults) == 1 else "".join(f"\n  {fault}" for fault in faults)
        count = "" if len(faults) == 1 else f"{len(faults)} settings can't be used:"
        super().__init__(
            f"{count}{listed}",
            hint="`gateway-bench config show` prints every setting and its origin",
        )
        self.faults = tuple(faults)


class KeyMissing(UsageFault):
    """No variable holds a key, or a secret header that was asked for."""

    def __init__(self, names: Iterable[str], *, option: str = "--api-key-env") -> None:
        self.names, self.option = tuple(names), option
        listed = " nor ".join(f"`{name}`" for name in self.names)
        super().__init__(
            f"no API key: neither {listed} is set" if " nor " in listed else f"{listed} is not set",
            hint=f"export the variable, or name another one with `{option}`",
        )


class ForeignReports(UsageFault):
    """Reports that another version of this tool made say what was known then; they stay."""

    def __init__(self, *, result: str, made_by: str, here: str) -> None:
        super().__init__(
            f"the reports of `{result}` were made by {made_by}, not by {here}",
            hint="name another folder with `--output`",
        )


class KeyRejected(BenchError):
    """The gateway refused the key at the first answer; nothing further was sent."""

    exit_code = 2

    def __init__(
        self,
        *,
        variable: str | None,
        url: str,
        status: int,
        said: str,
        option: str = "--api-key-env",
    ) -> None:
        key = f"the key in `{variable}`" if variable else f"a request without a key of `{option}`"
        reason = said.removeprefix(f"HTTP {status}").removeprefix(": ")
        super().__init__(
            f"{url} refused {key} with HTTP {status}{f': {reason}' if reason else ''}",
            hint=f"check the variable, or name another one with `{option}`"
            if variable
            else f"name the variable that holds the key with `{option}`, or check the headers given",
        )


class Interrupted(BenchError):
    """Ctrl-C came once more, while the reports of an interrupted run were made."""

    exit_code = 130
    retryable = True

    def __init__(self, journal: str, *, run_id: str, going_on: str | None = None) -> None:
        going_on = going_on or f"gateway-bench resume {quote(journal)}"
        super().__init__(
            f"interrupted once more: reports may be missing, what was measured is in `{journal}`",
            hint=f"`{going_on}` asks what is missing, "
            f"`gateway-bench render {quote(journal)}` makes the reports",
        )
        self.journal = journal
        self.run_id = run_id


class JournalUnwritable(BenchError):
    """A record could not be written; what was written before is kept."""

    exit_code = 5
    retryable = True


class JournalUnreadable(UsageFault):
    """The file is no journal or document that this version can read."""


class Refused(BenchError):
    """A person has to say yes first."""

    exit_code = 7


def reason_in(error: OSError) -> str:
    """Return the system's words for ``error``, to go on with in a sentence."""
    said = error.strerror or type(error).__name__
    return f"{said[:1].lower()}{said[1:]}"


class ClusterUnusable(BenchError):
    """A Ray cluster can't carry the run; nothing was sent."""

    exit_code = 2


class LoadProcessLost(BenchError):
    """One of the processes that send a run's load is gone, or can't be reached any more."""

    exit_code = 5

    def __init__(self, number: int, how: str) -> None:
        super().__init__(f"load process {number} is gone: {how}")
        self.number = number
        self.how = how
