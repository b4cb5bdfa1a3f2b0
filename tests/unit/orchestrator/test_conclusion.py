"""How a job says that it ended, where the measuring process could not say it."""

from typing import cast

import pytest

from orchestrator.bench_child import ChildEnd
from orchestrator.conclusion import Course, conclude
from orchestrator.link import JobLink
from orchestrator.tidings import Tidings
from tests.fakes_orchestrator import FakeMachine
from tests.unit.orchestrator.test_exec_command import up


@pytest.mark.parametrize(
    ("interrupted", "code", "reason", "headline"),
    [
        (130, 130, "interrupted", "interrupted before anything was measured"),
        (None, 5, "client_killed", "the measuring process exited with status 130; nothing was"),
    ],
    ids=["by Ctrl-C", "by a signal to it alone"],
)
def test_a_child_that_ended_before_its_journal(interrupted, code, reason, headline):
    link = cast("JobLink", None)  # nothing is said any more
    course = Course(up=up(), line=link, tidings=cast("Tidings", None))
    ended = conclude(
        FakeMachine().ports, [course], ChildEnd(status=130, said=None), interrupted=interrupted
    )
    assert (ended.exit_code, ended.reason) == (code, reason)
    assert ended.headline.startswith(headline)
