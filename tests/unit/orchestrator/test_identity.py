"""Same, different, unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.identity import Identity, Match, matches
from tests.fakes_orchestrator import identity

identities = st.builds(
    Identity,
    boot_id=st.sampled_from(["a", "b"]),
    pid_namespace=st.sampled_from([None, "1", "2"]),
    pid=st.integers(1, 3),
    start_ticks=st.integers(0, 3),
)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(identity(), Match.SAME, id="everything equal"),
        pytest.param(identity(ticks=1001), Match.DIFFERENT, id="the PID was reused"),
        pytest.param(identity(pid=1), Match.DIFFERENT, id="another PID"),
        pytest.param(identity(boot="boot-b"), Match.UNKNOWN, id="another boot or machine"),
        pytest.param(identity(namespace="ns-2"), Match.UNKNOWN, id="another container"),
        pytest.param(None, Match.UNKNOWN, id="could not be read"),
    ],
)
def test_identity_is_boot_namespace_pid_and_start(seen, expected):
    assert matches(identity(), seen) is expected


@given(identities, identities)
def test_same_means_equal_and_nothing_else(one, other):
    assert (matches(one, other) is Match.SAME) == (one == other)


@given(identities, identities)
def test_the_answer_does_not_depend_on_who_asks(one, other):
    assert matches(one, other) is matches(other, one)
