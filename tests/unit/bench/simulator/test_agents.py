import pytest

from bench.simulator.agents import act, opening_of, turn_of
from bench.simulator.answers import Call, CodingTask
from bench.simulator.chat import ChatMessage

TASK = CodingTask(
    paths=("a.py", "b.py", "test_a.py", "t.mjs"),
    solution={"a.py": "right", "new.py": "more"},
    wrong={"a.py": "wrong"},
    tests=("test_a.py", "t.mjs"),
)
AGENTS = ("perfect", "sloppy", "stubborn", "malformed", "endless", "cheating")


def talk(*roles):
    return [ChatMessage(role=role, content=role) for role in roles]


def names(answer):
    return [call.name for call in answer.tool_calls]


def turns(agent, count=12):
    return [act(agent, TASK, turn) for turn in range(count)]


@pytest.mark.parametrize(
    ("roles", "turn"),
    [
        (("system", "user"), 0),
        (("system", "user", "assistant", "tool", "tool"), 1),
        (("user", "assistant", "assistant", "tool", "assistant"), 2),  # pieces of one answer
        (("user", "assistant", "user", "assistant", "user"), 2),
    ],
)
def test_the_turn_is_told_by_the_conversation(roles, turn):
    assert turn_of(talk(*roles)) == turn


def test_the_opening_ends_before_the_first_answer():
    messages = talk("system", "user", "assistant", "tool")
    assert opening_of(messages) == tuple(messages[:2])


def test_the_perfect_one_looks_reads_writes_tests_and_ends():
    done = turns("perfect", 6)
    assert [names(answer) for answer in done] == [
        ["list_files"],
        ["read_file"],
        ["write_file", "write_file"],
        ["run_tests"],
        [],
        [],
    ]
    assert done[1].tool_calls == (Call(name="read_file", arguments={"path": "a.py"}),)
    assert done[4].content


def test_the_sloppy_one_runs_no_test():
    assert "run_tests" not in [name for answer in turns("sloppy") for name in names(answer)]
    assert turns("sloppy")[1].tool_calls[0].arguments == {"path": "a.py", "content": "wrong"}


def test_the_stubborn_one_tries_the_same_again_and_gives_up():
    done = turns("stubborn")
    assert done[1] == done[2] == done[3] == done[4]
    assert names(done[1]) == ["write_file", "run_tests"]
    assert names(done[5]) == []


def test_the_malformed_one_sends_ten_broken_calls_at_once_and_then_works():
    done = turns("malformed")
    assert len(done[0].tool_calls) == 10
    assert done[2:7] == turns("perfect", 5)


def test_the_endless_one_never_ends_nor_repeats_itself():
    done = turns("endless", 40)
    assert all(answer.tool_calls for answer in done)
    assert len({answer.tool_calls[0].text for answer in done}) == 40


def test_the_cheating_one_writes_over_the_tests_and_ends_python_early():
    written = {c.arguments["path"]: c.arguments["content"] for c in turns("cheating")[1].tool_calls}
    assert written["test_a.py"] == "print('OK')\n"
    assert written["t.mjs"] == "console.log('all tests pass')\n"
    assert "os._exit(0)" in written["sitecustomize.py"]
    assert "a.py" not in written


@pytest.mark.parametrize("agent", AGENTS)
def test_without_anything_to_change_every_agent_still_answers(agent):
    for turn in range(8):
        answer = act(agent, CodingTask(), turn)
        assert answer.content or answer.tool_calls
