"""What a table describes: prompts, variables, seeds, checks; and what is said of a wrong one."""

import json
import sys

import pytest

from bench.errors import UsageFault
from bench.evaluators import evaluate
from bench.model.blocks import PlannedTrial
from bench.model.target import Target, TargetMetadata
from bench.model.trial import Answer, ToolCall
from bench.plan import build_plan
from bench.usercases.building import read_case
from bench.usercases.fields import Faults
from bench.usercases.located import Located
from bench.usercases.yaml_text import read_yaml

FILES = {"long.txt": "Sum {{a}}.", "schema.json": '{"type": "array"}', "broken.json": "{"}


def read_file(name):
    if name not in FILES:
        raise ValueError("no such file")
    return FILES[name]


def read(**fields):
    faults = Faults(Located(value=fields, lines={}))
    case = read_case(fields, (), faults, default_id="mine", read_file=read_file)
    return case, [text for _, text in faults.found]


def made(**fields):
    case, faults = read(**fields)
    assert faults == []
    assert case is not None
    return case


def checked(check, **fields):
    return made(prompt="?", checks=[check], **fields).build(1)


def verdict(check, content="", calls=()):
    answer = Answer(content=content, tool_calls=calls, finish_reason="stop")
    return evaluate(checked(check), answer)


def test_a_prompt_is_a_case_and_nothing_is_sent_that_is_not_said():
    case = made(prompt="Hello")
    request = case.build(7).request
    assert [(one.role, one.content) for one in request.messages] == [("user", "Hello")]
    assert (request.max_tokens, request.temperature, request.tools) == (None, None, None)
    assert (case.info.id, case.info.kind, case.info.runs) == ("mine", "performance", 1)
    assert case.build(7).evaluate is None


def test_a_case_with_checks_is_about_quality_unless_it_says_otherwise():
    check = {"type": "exact", "value": "a"}
    assert made(prompt="?", checks=[check]).info.kind == "quality"
    assert made(prompt="?", checks=[check], kind="performance").info.kind == "performance"


def test_every_field_of_a_request_arrives():
    case = made(
        system="S",
        prompt_file="long.txt",
        variables={"a": 3},
        max_tokens=9,
        temperature=0.5,
        **{"reasoning-effort": "low", "tool-choice": "auto"},
        tools=[{"name": "f", "parameters": {"x": "{{a}}"}}],
    )
    request = case.build(1).request
    assert [one.content for one in request.messages] == ["S", "Sum 3."]
    assert (request.max_tokens, request.temperature) == (9, 0.5)
    assert (request.reasoning_effort, request.tool_choice) == ("low", "auto")
    assert request.tools == (
        {"type": "function", "function": {"name": "f", "parameters": {"x": 3}}},
    )


def test_rows_are_asked_one_after_the_other():
    case = made(
        prompt="{{q}}",
        rows=[{"q": "1+1", "a": 2}, {"q": "2+2", "a": 4}],
        checks=[{"type": "number", "value": "{{a}}"}],
    )
    assert (case.info.runs, case.info.seeds) == (2, (0, 1))
    asked = [case.build(seed).request.messages[0].content for seed in case.info.seeds]
    assert asked == ["1+1", "2+2"]
    assert [case.build(seed).expected for seed in case.info.seeds] == ["2", "4"]


def test_a_plan_takes_a_case_s_own_seeds_over_and_over_for_measured_runs():
    case = made(prompt="x", seeds=[5, 9], runs=3, warmup=1)
    target = Target(
        id="t", model="t", model_id="t", mapping=None, display_name="t", metadata=TargetMetadata()
    )
    plan = build_plan([target], [case.info], seed=1)
    trials: list[PlannedTrial] = [trial for block in plan for trial in block.trials]
    assert [one.seed for one in trials if not one.warmup] == [5, 9, 5]
    assert [one.seed for one in trials if one.warmup] != [5]


def test_variables_are_drawn_by_seed_and_keep_their_type():
    case = made(
        prompt="{{ n }} {{city}} \\{{n}}",
        variables={"n": {"from": 1, "to": 3}, "city": ["Oslo", "Rome"]},
        checks=[{"type": "tool-call", "tool": "f", "arguments": {"n": "{{n}}"}}],
    )
    first, again = case.build(4), case.build(4)
    assert first.request == again.request
    texts = {case.build(seed).request.messages[0].content for seed in range(40)}
    assert len(texts) == 6
    assert all((text or "").endswith("{{n}}") for text in texts)
    assert first.book is not None
    assert isinstance(json.loads(first.book.tool_calls[0].arguments)["n"], int)


PASSING = [
    ({"type": "exact", "value": "Yes"}, " Yes \n", True),
    ({"type": "exact", "value": "Yes"}, "yes", False),
    ({"type": "exact", "value": "yes", "ignore-case": True}, "YES", True),
    ({"type": "exact", "value": 7, "of": "final"}, "So it is.\n**FINAL: 7**", True),
    ({"type": "exact", "value": True}, "true", True),
    ({"type": "contains", "value": ["a", "b"]}, "b a", True),
    ({"type": "contains", "value": ["a", "b"]}, "a", False),
    ({"type": "contains", "value": "A", "ignore_case": True}, "xax", True),
    ({"type": "contains", "value": "sorry", "not": True}, "Sorry", True),
    ({"type": "contains", "value": "sorry", "not": True}, "so sorry", False),
    ({"type": "regex", "pattern": r"\b\d{4}\b"}, "in 1999.", True),
    ({"type": "regex", "pattern": "^a$"}, "b", False),
    ({"type": "regex", "pattern": "a", "ignore-case": True}, "\ud800A", True),
    ({"type": "regex", "pattern": "(a+)+$"}, "a" * 60_000 + "b", False),
    ({"type": "number", "value": 3.14, "tolerance": 0.01}, "FINAL: 3.145", True),
    ({"type": "number", "value": 3.14, "tolerance": 0.01}, "FINAL: 3.16", False),
    ({"type": "number", "value": 100, "relative-tolerance": 0.1}, "about 1.1e2 apples", True),
    ({"type": "number", "value": 0.3}, "0.30", True),
    ({"type": "number", "value": -1234}, "\u22121,234.", True),
    ({"type": "number", "value": 7}, "seven", False),
    ({"type": "number", "value": 7}, "", False),
    ({"type": "number", "value": 7}, "9" * 500, False),
    ({"type": "number", "value": 5, "of": "answer"}, "5", True),
    ({"type": "json-schema", "schema": {"type": "object", "required": ["a"]}}, '{"a":1}', True),
    ({"type": "json-schema", "schema": {"type": "object"}}, "```json\n{}\n```", True),
    ({"type": "json-schema", "schema": {"type": "object"}}, "[]", False),
    ({"type": "json-schema", "schema": {"type": "object"}}, "not", False),
    ({"type": "json-schema", "schema": True}, "[" * 9999, False),
    ({"type": "json-schema", "schema": {"type": "integer"}}, "9" * 400, True),
    (
        {"type": "json-schema", "schema": {"items": {"pattern": "^(a+)+$"}}},
        json.dumps(["a" * 9999 + "b"]),
        False,
    ),
    ({"type": "json-schema", "schema-file": "schema.json"}, "[]", True),
]


@pytest.mark.parametrize(("check", "content", "passed"), PASSING)
def test_a_check_judges(check, content, passed):
    told = verdict(check, content)
    assert told is not None
    assert told.passed is passed
    assert (told.detail is None) is passed


CALL = {"type": "tool-call", "tool": "f", "arguments": {"a": 1}}


@pytest.mark.parametrize(
    ("check", "calls", "passed"),
    [
        (CALL, (ToolCall(name="f", arguments='{"a": 1}'),), True),
        (CALL, (ToolCall(name="f", arguments='{"a": 2}'),), False),
        ({"type": "tool-call", "tool": "f"}, (ToolCall(name="f", arguments="?"),), True),
        ({"type": "tool-call", "tool": "f"}, (ToolCall(name="g", arguments="{}"),), False),
        ({"type": "tool-call", "tool": "f"}, (), False),
    ],
)
def test_a_call_is_judged(check, calls, passed):
    told = verdict(check, calls=calls)
    assert told is not None
    assert told.passed is passed


def test_all_checks_have_to_pass_and_each_counts_in_the_score():
    case = made(
        prompt="?",
        checks=[
            {"type": "contains", "value": "a", "name": "has a"},
            {"type": "contains", "value": "b"},
        ],
    )
    told = evaluate(case.build(1), Answer(content="a", finish_reason="length"))
    assert told is not None
    assert (told.passed, told.score) == (False, 0.5)
    assert told.metrics == {"checksPassed": 1, "checksTotal": 2, "failedChecks": ["contains"]}
    assert (told.detail or "").endswith("token limit")
    assert told.expected == "a; b"


@pytest.mark.parametrize(("check", "content", "passed"), PASSING)
def test_the_book_has_only_answers_that_pass_and_mistakes_that_do_not(check, content, passed):
    instance = checked(check)
    for answer, right in ((instance.book, True), (instance.book_wrong, False)):
        told = answer and evaluate(instance, answer)
        assert told is None or told.passed is right


def test_an_answer_that_a_case_gives_goes_into_the_book():
    regex = {"type": "regex", "pattern": "^x+$"}
    instance = checked(regex, answer="xxx", wrong="xy")
    assert instance.book is not None
    assert instance.book_wrong is not None
    assert (instance.book.content, instance.book_wrong.content) == ("xxx", "xy")


def test_values_that_spoil_a_check_are_told_by_the_trial():
    # `(` alone is drawn in no sample together with a lone `)`.
    case = made(
        prompt="?",
        variables={"a": ["x", "(y"], "b": ["z", "y)"]},
        checks=[{"type": "regex", "pattern": "{{a}}{{b}}"}],
    )
    told = [evaluate(case.build(seed), Answer(content="xz")) for seed in range(20)]
    spoilt = [one.detail for one in told if one is not None and "raised" in (one.detail or "")]
    assert spoilt
    assert all("BrokenCheck" in (one or "") for one in spoilt)


def test_a_changed_check_is_another_case():
    one, other = (
        made(prompt="?", checks=[{"type": "exact", "value": value}]).info.text_hash
        for value in ("a", "b")
    )
    assert one != other
    assert one == made(prompt="?", checks=[{"type": "exact", "value": "a"}]).info.text_hash


EXACT = {"type": "exact", "value": "a"}
WRONG = [
    ({}, "no `prompt`"),
    ({"prompt": "a", "messages": [{"role": "user", "content": "b"}]}, "side by side"),
    ({"system": "a", "messages": [{"role": "user", "content": "b"}]}, "side by side"),
    ({"messages": [{"role": "king", "content": "b"}]}, "one of `system`"),
    ({"messages": ["x"]}, "a message is a table"),
    ({"prompt": " "}, "some text"),
    ({"prompt": "a", "id": "a b"}, "are an id"),
    ({"prompt": "a", "id": "a" * 81}, "are an id"),
    ({"prompt": "a", "runs": True}, "whole number"),
    ({"prompt": "a", "seeds": [2**53]}, "from 0 to"),
    ({"prompt": "a", "seeds": []}, "with something in it"),
    ({"prompt": "a", "kind": "quality"}, "needs `checks`"),
    ({"prompt": "a", "difficulty": "absurd"}, "`easy`"),
    ({"prompt": "a", "temperature": -1}, "from 0"),
    ({"prompt": "a", "tools": [{"nme": "f"}]}, "each tool"),
    ({"prompt": "a", "prompt_file": "nowhere"}, "side by side"),
    ({"prompt-file": "nowhere"}, "no such file"),
    ({"prompt": "a", "max-tokens": 1, "max_tokens": 2}, "stands twice"),
    ({"prompt": "a", "tempreature": 1}, "did you mean `temperature`"),
    ({"prompt": "{{a}}"}, "no variable"),
    ({"prompt": "a", "variables": {"a b": 1}}, "is no name"),
    ({"prompt": "a", "variables": {"a": {"from": 3, "to": 1}}}, "ends at 1"),
    ({"prompt": "a", "variables": {"a": {"from": 3}}}, "no `to`"),
    ({"prompt": "a", "variables": {"a": []}}, "or `{from, to}`"),
    ({"prompt": "a", "rows": ["x"]}, "a row is a table"),
    ({"prompt": "a", "rows": [{"a": None}]}, "a row is a table"),
    ({"prompt": "a", "rows": [{"a": 1}, {"b": 1}]}, "the same names: a, b"),
    ({"prompt": "a", "rows": [{"a": 1}], "variables": {"a": 1}}, "a name of the rows"),
    ({"prompt": "a", "checks": ["x"]}, "a check is a table"),
    ({"prompt": "a", "checks": [{}]}, "no `type`"),
    ({"prompt": "a", "checks": [{"type": "exact"}]}, "no `value`"),
    ({"prompt": "a", "checks": [{"type": "contains", "value": []}]}, "some text"),
    ({"prompt": "a", "checks": [{**EXACT, "of": "all"}]}, "`answer`, `final`"),
    ({"prompt": "a", "checks": [{**EXACT, "not": "no"}]}, "`true` or `false`"),
    ({"prompt": "a", "checks": [{"type": "regex", "pattern": "(?=a)"}]}, "no look-around"),
    ({"prompt": "a", "checks": [{"type": "number", "value": "x"}]}, "a number is needed"),
    ({"prompt": "a", "checks": [{"type": "json-schema", "schema": "x"}]}, "a table is needed"),
    ({"prompt": "a", "checks": [{"type": "json-schema", "schema": {"type": 1}}]}, "no JSON Schema"),
    (
        {"prompt": "a", "checks": [{"type": "json-schema", "schema": {"$ref": "http://x/y"}}]},
        "nothing is fetched",
    ),
    (
        {"prompt": "a", "checks": [{"type": "json-schema", "schema-file": "broken.json"}]},
        "`schema-file`",
    ),
    ({"prompt": "a", "checks": [{"type": "tool-call"}]}, "no `tool`"),
    ({"prompt": "a", "checks": [EXACT], "answer": "b"}, "its own `answer` fails"),
    ({"prompt": "a", "checks": [EXACT], "wrong": "a"}, "passes every check"),
]


@pytest.mark.parametrize(("fields", "said"), WRONG)
def test_a_wrong_field_is_told(fields, said):
    case, faults = read(**fields)
    assert case is None
    assert any(said in fault for fault in faults), faults


def test_all_faults_are_told_at_once():
    _, faults = read(promt="a", runs=0, checks=[{"type": "rgex"}, {"type": "exact"}])
    assert len(faults) == 5


def test_a_case_is_a_table():
    faults = Faults(Located(value=[], lines={}))
    assert read_case([], (), faults, default_id="x", read_file=read_file) is None
    assert "a case is a table of fields, not a list" in [text for _, text in faults.found]


@pytest.mark.parametrize(
    ("package", "check"),
    [
        ("re2", {"type": "regex", "pattern": "gwb missing"}),
        ("jsonschema_rs", {"type": "json-schema", "schema": True}),
    ],
)
def test_a_check_whose_library_is_missing_says_how_to_get_it(monkeypatch, package, check):
    monkeypatch.setitem(sys.modules, package, None)
    _, faults = read(prompt="a", checks=[check])
    assert any("pip install 'gateway-bench[cases]'" in fault for fault in faults)


def test_yaml_without_its_library_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageFault, match="pyyaml") as refused:
        read_yaml("a: 1")
    assert "gateway-bench[cases]" in (refused.value.hint or "")


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_a_difficulty_is_kept(level):
    assert made(prompt="a", difficulty=level).info.difficulty == level
