"""Real gateways: skipped where they are not installed, a failure on CI."""

import os

import pytest

from tests.command_line import CommandLine
from tests.real.gateways import GATEWAYS, UPSTREAM_KEY, RealGateway, Standing
from tests.simulator_process import TOKEN, running_simulator

_TOLD = pytest.StashKey[list[str]]()


def pytest_configure(config):
    config.stash[_TOLD] = []


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[_TOLD]:
        terminalreporter.section("measured against the simulator's own log")
        for line in config.stash[_TOLD]:
            terminalreporter.line(line)


@pytest.fixture
def tell(request):
    """Say something at the end of the session: figures that no test is to judge."""
    return request.config.stash[_TOLD].append


@pytest.fixture(scope="session", params=list(GATEWAYS))
def gateway(request) -> RealGateway:
    found = GATEWAYS[request.param]
    if found.missing and os.environ.get("CI"):
        pytest.fail(found.missing)
    if found.missing:
        pytest.skip(found.missing)
    return found


def _command(tmp_path_factory, gateway: RealGateway) -> CommandLine:
    # The folders' names must not hold a word that a kill pattern looks for: no test's name in them.
    home, tree = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tree")
    return CommandLine(home, tree, **gateway.environ, **{UPSTREAM_KEY: TOKEN})


@pytest.fixture
def command(tmp_path_factory, gateway):
    """The command in a home of its own, for tests that start the gateway themselves."""
    line = _command(tmp_path_factory, gateway)
    yield line
    assert line.records() == []
    assert line.leftovers() == []


@pytest.fixture(scope="session")
def standing(tmp_path_factory, gateway):
    """The gateway, started once, in front of a simulator that logs what it sends."""
    line = _command(tmp_path_factory, gateway)
    with running_simulator(tmp_path_factory.mktemp("upstream")) as simulator:
        words = ("--upstream", simulator.url, "--upstream-key-env", UPSTREAM_KEY)
        started = line("start", *gateway.words, "--name", "standing", *words, "--json")
        assert started.code == 0, started.err
        try:
            yield Standing(
                gateway=gateway, command=line, simulator=simulator, facts=started.gateway
            )
        finally:
            # By PID: its name belongs to the worktree that holds the gateway, not to ours.
            stopped = line("stop", str(started.gateway["pid"]))
    assert stopped.code == 0, stopped.err
    assert line.records() == []
    assert line.leftovers() == []
