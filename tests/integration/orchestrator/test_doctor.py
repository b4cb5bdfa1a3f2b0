"""`doctor` on this very machine, and where something essential is taken away from it."""

import os

import pytest

from orchestrator.system import SystemExaminer
from tests.command_line import CommandLine

pytestmark = pytest.mark.integration


@pytest.fixture
def command(tmp_path_factory):
    line = CommandLine(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tree"))
    yield line
    assert line.leftovers() == []


def findings(done):
    return {one["id"]: one for one in done.told["detail"]["findings"]}


def test_this_machine_is_examined_in_a_page_and_in_an_object(command):
    (command.cwd / ".env").write_text("LLM_GATEWAY_API_KEY=the-value-of-it\n")
    page = command("doctor", LOCAL_DEMO_API_KEY="another-value")
    assert page.code == 0, page.out
    assert len(page.out.splitlines()) <= 40
    assert max(map(len, page.out.splitlines())) <= 80
    told = command("doctor", "--json", LOCAL_DEMO_API_KEY="another-value")
    seen = findings(told)
    for point in ("identity", "adopter", "ownership", "stateFolder", "locks"):
        assert seen[point]["verdict"] == "yes", seen[point]
    assert (
        seen["keys"]["seen"] == "set: LLM_GATEWAY_API_KEY (.env), LOCAL_DEMO_API_KEY (environment)"
    )
    for text in (page.out, page.err, told.out, told.err):
        assert "-value" not in text


def test_a_state_folder_that_can_not_be_written_is_3(command):
    done = command("doctor", "--json", XDG_STATE_HOME="/proc/nowhere")
    assert (done.code, done.told["reason"]) == (3, "not_proven")
    assert done.told["headline"] == "can't be proven here: state folder"
    assert findings(done)["node"]["verdict"] in ("unknown", "no")


def test_the_examiner_leaves_nothing_behind_and_sees_what_there_is(tmp_path):
    examiner = SystemExaminer()
    facts = examiner.folder(tmp_path / "not" / "yet")
    assert (facts.write_fault, facts.lock_fault) == (None, None)
    assert list(tmp_path.iterdir()) == []
    with examiner.connection() as (ours, theirs):
        assert ours[0] == theirs[0] == "127.0.0.1"
    system = examiner.system()
    assert system.cores >= 1
    assert system.clock_ns > 0
    assert examiner.version(tmp_path / "nothing") is None
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        assert examiner.folder(tmp_path).write_fault is not None
