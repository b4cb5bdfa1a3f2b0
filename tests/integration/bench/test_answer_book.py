import json

import pytest

from bench.answer_book import write_answer_book
from bench.errors import BenchError
from bench.model.blocks import PlannedTrial
from bench.model.case import Case, ChatRequest, Instance, Message
from bench.model.trial import Answer, ToolCall
from bench.prompt import prompt_hash
from tests.run_stage import case

pytestmark = pytest.mark.integration


def planned(seed, target="a"):
    return PlannedTrial(id=f"{target}|c|r{seed}", target_id=target, case_id="c", run=1, seed=seed)


def booked(wrong=None, *, known=True):
    call = ToolCall(name="look", arguments='{"a": 1}')

    def build(seed):
        return Instance(
            request=ChatRequest(messages=(Message(role="user", content=f"ask {seed}"),)),
            expected=None,
            evaluate=None,
            book=Answer(content=f"right {seed}", tool_calls=(call,)) if known else None,
            book_wrong=wrong,
        )

    return {"c": Case(info=case().info, build=build)}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_prompt_of_a_plan_is_in_the_book_once(tmp_path):
    path = tmp_path / "book"
    write_answer_book(path, [planned(1), planned(1, "b"), planned(2)], booked())
    first, second = lines(path)
    assert first == {
        "promptHash": prompt_hash(["ask 1"]),
        "answer": {
            "content": "right 1",
            "toolCalls": [{"name": "look", "arguments": '{"a": 1}'}],
        },
    }
    assert second["promptHash"] == prompt_hash(["ask 2"])


def test_a_wrong_answer_stands_beside_the_right_one(tmp_path):
    path = tmp_path / "book"
    write_answer_book(path, [planned(1)], booked(Answer(content="wrong")))
    assert lines(path)[0]["wrong"] == {"content": "wrong", "toolCalls": []}


def test_what_has_no_known_answer_is_left_out_and_the_file_grows(tmp_path):
    path = tmp_path / "book"
    path.write_text("{}\n")
    write_answer_book(path, [planned(1)], booked(known=False))
    assert path.read_text() == "{}\n"
    write_answer_book(path, [planned(1)], booked())
    assert len(lines(path)) == 2


def test_a_book_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(BenchError, match=r"the answer book `.*` can't be written: is a directory"):
        write_answer_book(tmp_path, [planned(1)], booked())
