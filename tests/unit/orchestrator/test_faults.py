"""Sentences and exit codes of faults that no other test reads."""

from orchestrator.faults import BuildDiffers, CommandFailed, ConfigFaults, ServicesMissing


def test_one_wrong_setting_needs_no_list():
    fault = ConfigFaults(["`port` (flag) is 'x', must be a port"])
    assert fault.message == "`port` (flag) is 'x', must be a port"


def test_missing_services_may_come_back_by_themselves():
    fault = ServicesMissing(["Redis at 127.0.0.1:1: nothing listens there"])
    assert (fault.exit_code, fault.retryable) == (3, True)


def test_a_failed_command_shows_its_last_lines():
    fault = CommandFailed("build", "pnpm build", "exited with status 2", ["a", "b"])
    assert fault.message == "`build` command `pnpm build` exited with status 2\n  | a\n  | b"
    assert fault.exit_code == 3


def test_another_build_is_told_by_what_differs():
    fault = BuildDiffers(["the commit was a, is b", "the tree was c, is d"])
    assert fault.exit_code == 3
    assert fault.message.endswith("began with: the commit was a, is b; the tree was c, is d")
