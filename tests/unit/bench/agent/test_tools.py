import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.agent.session import MAX_RESULTS
from bench.agent.tools import MAX_CALLS, TOOL_SCHEMAS, Misunderstood, Order, echo_of, understand
from bench.model.trial import ToolCall
from tests.agent_stage import MEND, RUN, call, carried_out, session


def only(*calls, **options):
    (trace,) = carried_out(*calls, **options)
    return trace


def test_every_tool_says_what_it_takes_in_a_closed_schema():
    names = [schema["function"]["name"] for schema in TOOL_SCHEMAS]
    assert names == ["list_files", "read_file", "search", "write_file", "run_tests"]
    assert all(s["function"]["parameters"]["additionalProperties"] is False for s in TOOL_SCHEMAS)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        pytest.param(
            call("edit_file", {}),
            "There is no tool 'edit_file'. There are: list_files",
            id="unknown tool",
        ),
        pytest.param(
            call("read_file", '{"path": '), 'are not a JSON object: {"path":', id="broken"
        ),
        pytest.param(call("read_file", '["sums.py"]'), "are not a JSON object", id="a list"),
        pytest.param(call("read_file", '"sums.py"'), "are not a JSON object", id="a text"),
        pytest.param(
            call("read_file", ""), "read_file needs `path`. read_file takes", id="nothing"
        ),
        pytest.param(call("read_file", {"path": 7}), "has to be text, not a number", id="number"),
        pytest.param(call("read_file", {"path": ["a"]}), "has to be text, not a list", id="list"),
        pytest.param(call("read_file", {"path": {}}), "has to be text, not an object", id="object"),
        pytest.param(call("read_file", {"path": True}), "not true or false", id="bool"),
        pytest.param(
            call("read_file", {"path": "sums.py", "start_line": 0}),
            "whole number from 1",
            id="line 0",
        ),
        pytest.param(
            call("read_file", {"path": "sums.py", "start_line": True}),
            "whole number from 1",
            id="line true",
        ),
        pytest.param(
            call("read_file", {"file": "sums.py"}), "has no argument 'file'", id="wrong name"
        ),
        pytest.param(
            call("write_file", {"path": "a.py"}), "write_file needs `content`", id="no content"
        ),
        pytest.param(
            call("run_tests", {"path": "a"}), "run_tests takes no arguments: {}", id="too many"
        ),
        pytest.param(call("read_file", {"path": "/etc/passwd"}), "is absolute", id="absolute"),
        pytest.param(call("read_file", {"path": "~/.ssh/id"}), "is absolute", id="home"),
        pytest.param(
            call("write_file", {"path": "C:\\x", "content": ""}), "is absolute", id="drive"
        ),
        pytest.param(
            call("read_file", {"path": "../../etc/passwd"}), "leaves the repository", id="up"
        ),
        pytest.param(call("read_file", {"path": "a/../b"}), "leaves the repository", id="inner up"),
        pytest.param(call("read_file", {"path": "pkg\\notes"}), "has a backslash", id="backslash"),
        pytest.param(call("list_files", {"folder": "/"}), "is absolute", id="root"),
        pytest.param(call("read_file", {"path": "a\0b"}), "characters that no path", id="nul"),
        pytest.param(
            call("write_file", {"path": "", "content": ""}), "Nothing was written", id="empty path"
        ),
        pytest.param(
            call("write_file", {"path": "sums.py/x", "content": ""}),
            "Nothing was written",
            id="below a file",
        ),
        pytest.param(
            call("write_file", {"path": "big", "content": "x" * 3_000_000}),
            "Nothing was written",
            id="too big",
        ),
    ],
)
def test_a_bad_call_is_invalid_and_answered_with_what_would_be_right(made, told):
    trace = only(made)
    assert told in trace.result
    assert (trace.ok, trace.invalid) == (False, True)
    assert trace.detail
    assert len(trace.detail) < 200


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (
            call("read_file", {"path": "sum.py"}),
            "There is no file 'sum.py'. At the root there are: pkg, sums.py",
        ),
        (call("read_file", {"path": "pkg"}), "'pkg' is a folder; list_files"),
        (call("list_files", {"folder": "src"}), "There is no folder 'src'"),
        (
            call("read_file", {"path": "sums.py", "start_line": 9}),
            "has 2 lines; there is no line 9",
        ),
        (call("search", {"text": ""}), "every line has that"),
    ],
)
def test_a_call_that_finds_nothing_failed_and_was_no_invalid_one(made, told):
    trace = only(made)
    assert told in trace.result
    assert (trace.ok, trace.invalid) == (False, False)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (call("list_files"), "pkg/deep/notes.txt (14 characters)\nsums.py"),
        (call("list_files", ""), "sums.py"),
        (call("list_files", {"folder": "./pkg/"}), "pkg/deep/notes.txt (14 characters)"),
        (call("list_files", {"folder": "."}), "sums.py"),
        (call("list_files", {"folder": None}), "sums.py"),
        (call("read_file", {"path": "./sums.py"}), "def add(a, b):\n    return a - b\n"),
        (call("read_file", {"path": "pkg/deep/notes.txt", "start_line": 3}), "three\n"),
        (call("search", {"text": "return"}), "sums.py:2: return a - b"),
        (call("search", {"text": "two", "folder": "pkg"}), "pkg/deep/notes.txt:2: two"),
        (call("search", {"text": ".*"}), "No line contains '.*'."),
        (
            call("write_file", {"path": "new/a.py", "content": "x\ny"}),
            "new/a.py: created (2 lines).",
        ),
        (MEND, "sums.py: replaced (2 lines)."),
        (call("write_file", {"path": "test_sums.py", "content": ""}), "use the original"),
        (RUN, "1 failed"),
    ],
)
def test_a_good_call_is_answered(made, told):
    trace = only(made)
    assert told in trace.result
    assert (trace.ok, trace.invalid, trace.repeated) == (True, False, False)


def test_arguments_cut_by_the_token_limit_are_told_apart_from_broken_ones():
    cut = call("write_file", '{"path": "sums.py", "content": "def add')
    assert "reached its token limit" in only(cut, finish="length").result
    assert "reached its token limit" not in only(cut).result


def test_of_ten_calls_at_once_each_is_answered_in_order():
    made = [call("read_file", {"path": f"{n}.py"}, f"id{n}") for n in range(10)]
    traces = carried_out(*made)
    assert [trace.id for trace in traces] == [f"id{n}" for n in range(10)]
    assert all(f"'{n}.py'" in trace.result for n, trace in enumerate(traces))


def test_calls_beyond_the_most_are_answered_and_not_carried_out():
    made = [
        call("write_file", {"path": f"{n}.txt", "content": "x"}, f"i{n}")
        for n in range(MAX_CALLS + 3)
    ]
    one = session()
    traces = carried_out(*made, on=one)
    assert [trace.invalid for trace in traces] == [False] * MAX_CALLS + [True] * 3
    assert f"at most {MAX_CALLS} calls" in traces[-1].result
    assert f"{MAX_CALLS}.txt" not in one.workspace.files


@pytest.mark.parametrize("ids", [(None, None), ("", ""), ("same", "same"), ("call_1_2", None)])
def test_missing_and_repeated_ids_are_replaced_by_unique_ones(ids):
    one = session()
    traces = carried_out(*(call("list_files", {}, id_) for id_ in ids), on=one)
    echoed = [made["id"] for made in one.messages[-3].tool_calls or ()]
    answered = [message.tool_call_id for message in one.messages[-2:]]
    assert echoed == answered == [trace.id for trace in traces]
    assert len(set(echoed)) == 2
    assert all(echoed)


def test_ids_are_unique_in_the_whole_conversation():
    one = session()
    first = carried_out(call("list_files", {}, "same"), on=one)
    second = carried_out(call("list_files", {}, "same"), on=one)
    assert first[0].id == "same"
    assert second[0].id != "same"


def test_a_huge_result_is_cut_and_says_so():
    one = session()
    carried_out(call("write_file", {"path": "big.txt", "content": "line\n" * 100_000}), on=one)
    reads = [call("read_file", {"path": "big.txt"}, f"r{n}") for n in range(5)]
    traces = carried_out(*reads, on=one)
    assert "more characters; go on with start_line 3201" in traces[0].result
    assert sum(len(trace.result) for trace in traces) < MAX_RESULTS + 5 * 500
    assert "characters left out" in traces[-1].result
    assert len(carried_out(call("search", {"text": "line"}), on=one)[0].result) < 4_000


def test_a_call_is_repeated_while_nothing_has_changed():
    one = session()
    read = call("read_file", {"path": "sums.py"})

    def repeated(made):
        return carried_out(made, on=one)[0].repeated

    assert [repeated(read), repeated(read)] == [False, True]
    assert [repeated(MEND), repeated(MEND)] == [False, True]
    assert [repeated(read), repeated(RUN), repeated(RUN)] == [False, False, True]


def test_tests_verify_the_files_until_one_is_changed():
    one = session()
    assert not one.is_verified
    carried_out(RUN, on=one)
    assert not one.is_verified
    carried_out(MEND, RUN, on=one)
    assert one.is_verified
    carried_out(MEND, on=one)
    assert one.is_verified
    carried_out(call("write_file", {"path": "x", "content": ""}), on=one)
    assert not one.is_verified


def test_what_is_sent_back_is_what_strict_providers_take():
    one = session()
    broken = call("rm -rf /", "{nonsense", "a")
    carried_out(broken, call("list_files", "", "b"), call("", "[1]", "c"), on=one)
    answer, *results = one.messages[-4:]
    assert answer.content is None
    functions = [made["function"] for made in answer.tool_calls or ()]
    assert [function["name"] for function in functions] == ["rm_-rf__", "list_files", "unnamed"]
    assert all(json.loads(function["arguments"]) == {} for function in functions)
    assert [result.role for result in results] == ["tool"] * 3
    assert all(result.content for result in results)


@given(st.text(max_size=80), st.text(max_size=200), st.booleans())
def test_no_call_breaks_anything(name, arguments, is_cut):
    found = understand(ToolCall(id=None, name=name, arguments=arguments), is_cut=is_cut)
    assert isinstance(found, Misunderstood | Order)
    safe_name, safe_arguments = echo_of(name, arguments)
    assert safe_name
    assert isinstance(json.loads(safe_arguments), dict)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
_ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "content", "text", "folder", "start_line", "x"]), _JSON, max_size=4
)


@given(st.sampled_from([s["function"]["name"] for s in TOOL_SCHEMAS]), _ARGUMENTS)
def test_every_call_of_a_known_tool_gets_words_back(name, arguments):
    trace = only(call(name, arguments))
    assert trace.result
    assert trace.detail.isprintable()


def test_deeply_nested_arguments_are_no_json_object():
    assert only(call("read_file", '{"path":' * 100_000)).invalid
