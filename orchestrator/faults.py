"""What can go wrong in describing a gateway and in the job around it; the rest is in `errors`.

DescriptionFault (2)
├── ConfigFaults            every wrong value at once, each with key and origin
├── UnknownPreset           with near matches
├── NothingDescribed        neither preset, entry nor command
├── UpstreamKeyMissing      the variable that should hold the upstream's key is not set
├── NoSuchCommit            git knows no commit by this name
├── SeveralCandidates       no name was given and more than one gateway could be meant
└── NoSuchGateway           a name or PID that no record knows
NotStarted (3)
├── ServicesMissing         what the gateway needs does not answer
├── CommandFailed           a build or prepare command ended with another status than 0
├── NotCheckedOut           git made no working tree of a commit
├── NotThatBuild            what would be started is not the build of its commit
└── BuildDiffers            a resumed run would measure another build
NotVerified (3)
└── NotAttached              a process can't be shown to be what should be watched
Untrusted (7)               a file of the worktree would make us execute something
"""

import difflib
from collections.abc import Sequence

from orchestrator.errors import DescriptionFault, NotStarted, NotVerified, OrchestratorError


class ConfigFaults(DescriptionFault):
    """Values that are not what their keys ask for; all of them.

    Args:
        faults: One sentence each, with key, origin and value.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        one = len(faults) == 1
        listed = "\n".join(f"  {fault}" for fault in faults)
        super().__init__(
            faults[0] if one else f"{len(faults)} settings are wrong:\n{listed}",
            hint="`gateway-bench config show` prints each setting and its origin",
        )
        self.faults = tuple(faults)


class UnknownPreset(DescriptionFault):
    """No preset has this name."""

    def __init__(self, name: str, origin: str, known: Sequence[str]) -> None:
        near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
        meant = f"; did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""
        super().__init__(
            f"no preset `{name}` ({origin}){meant}", hint=f"presets: {', '.join(known)}"
        )
        self.near = tuple(near)


class UpstreamKeyMissing(DescriptionFault):
    """The variable that should hold the upstream's key is not set."""

    def __init__(self, variable: str, upstream: str) -> None:
        super().__init__(
            f"`{variable}`, which should hold the key for `{upstream}`, is not set",
            hint="export it, or name another variable with `--upstream-key-env`",
        )


class NothingDescribed(DescriptionFault):
    """Nothing says which gateway is meant."""

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"no gateway is described for `{folder}`: neither a preset nor an entry nor a command",
            hint="name one with `--preset`, `--entry` or `--command`, or write a "
            "`gateway-bench.toml`",
        )


class SeveralCandidates(DescriptionFault):
    """More than one gateway could be meant; nothing was done.

    Args:
        listed: One line per candidate: name, PID, port, worktree.
    """

    def __init__(self, verb: str, listed: Sequence[str]) -> None:
        lines = "\n".join(f"  {line}" for line in listed)
        super().__init__(
            f"{len(listed)} gateways could be meant:\n{lines}",
            hint=f"name one: `gateway-bench {verb} NAME` or `gateway-bench {verb} PID`",
        )


class NotAttached(NotVerified):
    """A process is not what could be watched as a gateway; nothing was signalled.

    Args:
        pid: As it was named.
        why: What stands against it.
        hint: What to do.
    """

    def __init__(self, pid: int, why: str, hint: str) -> None:
        super().__init__(f"PID {pid} can't be attached to: {why}", hint=hint)


class NoSuchGateway(DescriptionFault):
    """No record has this name or PID."""

    def __init__(self, wanted: str, known: Sequence[str]) -> None:
        there = f"on record: {', '.join(known)}" if known else "none is on record"
        super().__init__(f"no gateway `{wanted}` here", hint=there)


class NoSuchCommit(DescriptionFault):
    """Git knows no commit by this name.

    Args:
        letter: Of the side.
        name: As it was typed.
        folder: From where git was asked.
        said: Git's own words.
    """

    def __init__(self, letter: str, name: str, folder: str, said: str) -> None:
        super().__init__(
            f"`--{letter}-ref` names no commit: `{name}` in `{folder}`: {said}",
            hint="`git log --oneline` lists commits; fetch the one that is missing",
        )


class NotCheckedOut(NotStarted):
    """Git made no working tree of a commit."""

    def __init__(self, commit: str, said: str) -> None:
        super().__init__(
            f"no working tree of {commit[:12]} could be made: {said}",
            hint="`git worktree list` shows those there are",
        )


class NotThatBuild(NotStarted):
    """What would be started is not the build of its commit."""

    def __init__(self, side: str, commit: str, why: str) -> None:
        super().__init__(
            f"side {side} would not be the build of {commit[:12]}: {why}",
            hint="let the description name its entry relative to its folder, and build it there",
        )


class ServicesMissing(NotStarted):
    """Something the gateway needs does not answer; nothing was started.

    Args:
        missing: One line per service: name, address, what happened, who owns it.
    """

    retryable = True

    def __init__(self, missing: Sequence[str]) -> None:
        listed = "; ".join(missing)
        super().__init__(
            f"the gateway needs what is not there: {listed}",
            hint="start it, then run this again; nothing was started",
        )
        self.missing = tuple(missing)


class CommandFailed(NotStarted):
    """A command of the description did not end with 0.

    Args:
        key: ``build`` or ``prepare``.
        how: ``ended with 2``, ``was killed by SIGKILL``, ``is no command: …``.
        tail: Its last lines, masked.
    """

    def __init__(self, key: str, command: str, how: str, tail: Sequence[str]) -> None:
        lines = "".join(f"\n  | {line}" for line in tail)
        super().__init__(
            f"`{key}` command `{command}` {how}{lines}",
            hint="run it by hand in the gateway's folder, then try again",
        )


class BuildDiffers(NotStarted):
    """The build that would be measured is not the one the journal was made with.

    Args:
        differences: One each: what, then, now.
    """

    def __init__(self, differences: Sequence[str]) -> None:
        super().__init__(
            f"the gateway is not the build this run began with: {'; '.join(differences)}",
            hint="check that build out again, or start a new run",
        )
        self.differences = tuple(differences)


class Untrusted(OrchestratorError):
    """A file of the worktree decides what is executed, and nobody has agreed to it yet.

    Args:
        command: What to type to agree.
        decides: Lines ``key = value`` that the file decides.
    """

    exit_code = 7

    def __init__(self, path: str, decides: Sequence[str], command: str) -> None:
        listed = "\n".join(f"  {line}" for line in decides)
        super().__init__(
            f"`{path}` decides what would be executed, and this content is not trusted yet:"
            f"\n{listed}",
            hint=f"look at it, then type `{command}`",
        )
        self.command = command
