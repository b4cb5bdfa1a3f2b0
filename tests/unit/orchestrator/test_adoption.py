"""Who may adopt a detached gateway."""

import pytest

from orchestrator.adoption import judge
from orchestrator.errors import NotDetached
from orchestrator.records import Adopter


@pytest.mark.parametrize(
    ("pid", "name"),
    [
        pytest.param(1, "process_api", id="PID 1, whatever its name"),
        pytest.param(0, "outside", id="outside of the PID namespace"),
        pytest.param(318, "systemd", id="systemd --user"),
        pytest.param(9, "Relay(10)", id="WSL relay"),
    ],
)
def test_what_outlives_us_may_adopt(pid, name):
    assert judge(pid, name, launcher=500) == Adopter(pid=pid, name=name)


@pytest.mark.parametrize(
    ("pid", "launcher"),
    [
        pytest.param(500, 500, id="we are a subreaper"),
        pytest.param(1, 1, id="we are PID 1 of a container"),
        pytest.param(400, 500, id="a shell that made itself a subreaper"),
    ],
)
def test_what_ends_with_us_may_not(pid, launcher):
    with pytest.raises(NotDetached, match=rf"adopted by PID {pid} \(`bash`\) and die with it"):
        judge(pid, "bash", launcher=launcher)
