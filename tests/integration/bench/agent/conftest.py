import pytest

from bench.sandbox import Sandbox
from tests.plain_sandbox import PlainSandbox


@pytest.fixture(scope="session")
def real_sandbox():
    """The sandbox of this machine; hostile code runs nowhere else."""
    sandbox = Sandbox()
    if sandbox.protections.level == "none":
        pytest.skip(f"no sandbox here: {sandbox.protections.why}")
    return sandbox


@pytest.fixture(scope="session")
def sandbox():
    """The sandbox of this machine; where it has none, the project's own code runs without."""
    found = Sandbox()
    return PlainSandbox() if found.protections.level == "none" else found
