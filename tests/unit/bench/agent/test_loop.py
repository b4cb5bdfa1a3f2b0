import asyncio

import msgspec
import pytest

from bench.agent.loop import figures
from bench.agent.workspace import tree_hash
from bench.model.trial import Response, ResponseError
from tests.agent_stage import DONE, MEND, MENDED, RUN, TASK, call, says, session, worked
from tests.fakes import FakeClock

LOOK = says(call("list_files"))
BROKEN = Response(error=ResponseError(code="http_500", seed_code="http_500", message="no"))


def test_a_trial_ends_when_the_model_answers_without_a_tool():
    done, one, desk = worked(LOOK, says(MEND, RUN), DONE)
    assert (done.stop, len(done.turns), done.replayed) == ("no_tool_calls", 3, 0)
    assert one.workspace.files["sums.py"] == MENDED
    assert desk.noted == list(done.turns)


def test_each_request_carries_the_whole_conversation():
    _, _, desk = worked(LOOK, says(MEND, RUN, content="I mend."), DONE)
    roles = [[message.role for message in asked] for asked in desk.asked]
    assert roles[0] == ["system", "user"]
    assert roles[1] == [*roles[0], "assistant", "tool"]
    assert roles[2] == [*roles[1], "assistant", "tool", "tool"]
    assert desk.asked[2][4].content == "I mend."


def test_what_a_provider_wants_repeated_is_sent_back_unchanged():
    part = {"type": "thinking", "signature": "s"}
    _, _, desk = worked(says(call("list_files"), opaque=(part,)), DONE)
    assert desk.asked[1][2].opaque == (part,)


@pytest.mark.parametrize(
    ("answers", "options", "stop", "turns"),
    [
        ((LOOK,), {"turn_limit": 4}, "turn_limit", 4),
        ((LOOK,), {"task_limit_ms": 50.0}, "task_timeout", 3),
        ((LOOK, says(content="I was", finish="length")), {}, "token_limit", 2),
        ((LOOK, BROKEN), {}, "upstream_error", 2),
        ((LOOK, LOOK, "budget"), {}, "budget", 2),
        ((LOOK, "max_cost"), {}, "max_cost", 1),
        (("interrupted",), {}, "interrupted", 0),
        ((DONE,), {}, "no_tool_calls", 1),
        ((says(),), {}, "no_tool_calls", 1),
    ],
)
def test_every_end_has_a_name(answers, options, stop, turns):
    done, _, desk = worked(*answers, **options)
    assert (done.stop, len(done.turns), len(desk.noted)) == (stop, turns, turns)


def test_after_a_failed_request_no_tool_is_used():
    half = msgspec.structs.replace(says(MEND), error=BROKEN.error)
    done, one, _ = worked(half)
    assert done.turns[0].calls == ()
    assert one.workspace.files == TASK.files


def test_time_is_split_into_model_tools_and_the_rest_without_waiting():
    clock = FakeClock()
    done, one, _ = worked(says(RUN), DONE, clock=clock)
    first = done.turns[0]
    # Before a request 3 ms pass, 2 of them in the queue; it takes 20, a run of the tests 5.
    assert (first.model_ms, first.tool_ms, first.own_ms) == (20.0, 5.0, 1.0)
    run = figures(done, one, reusable_turns=0)
    assert (run.wall_ms, run.model_ms, run.tool_ms, run.own_ms) == (47.0, 40.0, 5.0, 2.0)


def test_the_figures_count_calls_by_what_became_of_them():
    read = call("read_file", {"path": "sums.py"})
    done, one, _ = worked(says(read, call("oops"), read), says(MEND, RUN), DONE)
    run = figures(done, one, reusable_turns=0)
    assert (run.turns, run.tool_calls, run.invalid_calls, run.repeated_calls) == (3, 5, 1, 1)
    assert run.calls_by_tool == {"read_file": 2, "write_file": 1, "run_tests": 1}
    assert run.self_verified
    assert run.changed_files == ("sums.py",)
    assert run.tree_hash == tree_hash(one.workspace.files)


def test_going_on_from_any_turn_comes_to_the_same_end():
    answers = (LOOK, says(call("read_file", {"path": "sums.py"})), says(MEND), says(RUN, RUN), DONE)
    whole, one, desk = worked(*answers)
    for kept in range(len(whole.turns) + 1):
        again, two, later = worked(*answers, recorded=whole.turns[:kept])
        assert (again.stop, again.replayed) == (whole.stop, kept)
        assert two.messages == one.messages
        assert two.workspace.files == one.workspace.files
        assert two.is_verified
        assert later.asked == desk.asked[kept:]
        assert [t.calls for t in again.turns] == [t.calls for t in whole.turns]


def test_recorded_turns_count_in_the_limits():
    whole, _, _ = worked(LOOK, turn_limit=3)
    again, _, desk = worked(LOOK, recorded=whole.turns[:2], turn_limit=3)
    assert (again.stop, len(desk.asked)) == ("turn_limit", 1)


def test_taking_up_a_turn_runs_no_test():
    whole, _, _ = worked(says(MEND, RUN), DONE)

    def fails(files):
        raise AssertionError

    one = session()
    one._run_tests = fails
    one.take_up(whole.turns[0])
    assert one.is_verified


def test_a_turn_that_is_recorded_holds_its_calls_once():
    done, _, _ = worked(says(MEND), DONE)
    assert done.turns[0].response.tool_calls == ()
    assert done.turns[0].calls[0].arguments == MEND.arguments


def test_the_hash_tells_paths_from_texts():
    assert tree_hash({"ab": "c"}) != tree_hash({"a": "bc"})
    assert tree_hash({"a": "1", "b": "2"}) == tree_hash({"b": "2", "a": "1"})
    assert tree_hash({"a": "\ud800"})


def test_half_a_surrogate_pair_in_a_file_is_refused():
    one = session()
    lone = call("write_file", '{"path": "a.txt", "content": "\\ud800"}')
    (trace,) = asyncio.run(one.carry_out(says(lone), turn=1))
    assert trace.invalid
