"""Each error says what happened, with values, and what to do."""

import errno

import pytest

from orchestrator import errors

CASES = [
    (
        errors.EntryMissing("entry file", "/w/dist/serve.js"),
        3,
        "no entry file at `/w/dist/serve.js`",
        "build it",
    ),
    (
        errors.PortTaken(4001, ["PID 7 `node x`"]),
        3,
        "port 4001 is taken by PID 7 `node x`",
        "--port",
    ),
    (errors.PortTaken(4001, []), 3, "by a process this user may not see", "--port"),
    (
        errors.StateUnusable("/s/x.json", "No space left on device"),
        3,
        "the state folder can't be used: No space left on device: `/s/x.json`",
        "XDG_STATE_HOME",
    ),
    (errors.NoFreePort(50, 20000, 32767), 3, "none of 50 ports tried", "--port"),
    (
        errors.StartUnderWay("default", "/w", "PID 9 since noon"),
        3,
        "`default` of `/w` is being started or stopped by PID 9 since noon",
        "--name",
    ),
    (
        errors.AnotherIsUp("default", 7, 4001, ["environment", "port"]),
        3,
        "already up as PID 7 on port 4001, with another description: environment, port",
        "--name",
    ),
    (errors.NotDetached(9, "bash"), 3, "adopted by PID 9 (`bash`)", "subreaper"),
    (
        errors.ExecFailed("execve", "/w/x", errno.ENOENT, "No such file or directory"),
        3,
        "execve of `/w/x` was refused: No such file or directory (ENOENT)",
        "permissions",
    ),
    (
        errors.DiedBeforeReady("exited with status 1", 12.4, ["a", "b"], "/s/x.log"),
        3,
        "exited with status 1, 12 ms after its start; the end of `/s/x.log`:\n  | a\n  | b",
        "by hand",
    ),
    (
        errors.NeverReady("http://x", 5, ["connection refused"], [], "/s/x.log"),
        3,
        "not ready within 5 s; it heard: connection refused; its log `/s/x.log` is empty",
        "--health",
    ),
    (errors.NeverReady("http://x", 5, [], ["l"], "/s"), 3, "it heard: nothing", "--ready-timeout"),
    (
        errors.PidReused(42, recorded_ticks=1000, seen_ticks=2000, is_chosen=True),
        3,
        "PID 42 was started at tick 2000, the chosen process at tick 1000: the PID was reused",
        "as `gateway-bench ps` prints them",
    ),
    (
        errors.PidReused(42, recorded_ticks=1000, seen_ticks=2000),
        3,
        "PID 42 was started at tick 2000, our gateway at tick 1000: the PID was reused",
        "status",
    ),
    (
        errors.IdentityUnknown(42, "it was recorded on another boot"),
        3,
        "whether PID 42 is our gateway is unknown: it was recorded on another boot",
        "yourself",
    ),
    (
        errors.RecordUnreadable("/s/x.json", "is truncated"),
        3,
        "`/s/x.json` is truncated",
        "version",
    ),
    (errors.FileInTheWay("/w/bench-serve.js"), 3, "was not written by this program", "away"),
    (errors.NotStopped([7, 8]), 3, "PID 7, PID 8 survived SIGKILL", "stop"),
    (errors.NotStopped([], port=4001), 3, "port 4001 is still held by a process out of", "stop"),
]


@pytest.mark.parametrize(
    ("error", "exit_code", "text", "hint"),
    CASES,
    ids=[f"{at}-{type(case[0]).__name__}" for at, case in enumerate(CASES)],
)
def test_an_error_has_values_a_hint_and_an_exit_code(error, exit_code, text, hint):
    assert error.exit_code == exit_code
    assert text in error.message
    assert hint in (error.hint or "")
    assert not error.message.endswith(".")


def test_the_tree_in_the_docstring_names_every_class():
    classes = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    ]
    assert [name for name in classes if name not in (errors.__doc__ or "")] == []
