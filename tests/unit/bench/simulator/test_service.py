import gzip
import json
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench.simulator.book import AnswerBook
from bench.simulator.exchange import Exchange, Request
from bench.simulator.service import Gateway, Settings
from bench.simulator.timeline import Event, Write

SECOND = 1_000_000_000


def gateway(**settings: Any) -> Gateway:
    return Gateway(
        settings=Settings(instance="test", **settings),
        book=AnswerBook(None),
        utcnow=lambda: datetime(2026, 11, 30, tzinfo=UTC),
    )


def ask(
    host: Gateway,
    model: str,
    *,
    prompt: str = "hi",
    at_ns: int = 0,
    headers: dict[str, str] | None = None,
    **fields: Any,
) -> Exchange:
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], **fields}
    return host.handle(
        Request(
            method="POST",
            path="/v1/chat/completions",
            headers={"authorization": "Bearer test-token", **(headers or {})},
            body=json.dumps(body).encode(),
            received_ns=at_ns,
            connection=1,
        )
    )


def get(path: str, method: str = "GET") -> Exchange:
    request = Request(method=method, path=path, headers={}, body=b"", received_ns=0, connection=1)
    return gateway().handle(request)


def streamed(words: str, **fields: Any) -> list[Write]:
    return list(ask(gateway(), f"sim-{words}", stream=True, **fields).writes)


def text_of(writes: list[Write]) -> str:
    return b"".join(write.data for write in writes).decode()


def events_of(writes: list[Write]) -> list[Event]:
    return [event for write in writes for event in write.events]


def kinds(words: str, **fields: Any) -> list[str]:
    return [event.kind for event in events_of(streamed(words, **fields))]


def chunks(words: str, **fields: Any) -> list[dict[str, Any]]:
    lines = [line for line in text_of(streamed(words, **fields)).split("\n") if line]
    return [json.loads(line[6:]) for line in lines if line != "data: [DONE]"]


def body_of(exchange: Exchange) -> dict[str, Any]:
    data = b"".join(write.data for write in exchange.writes)
    assert exchange.length == len(data)
    return json.loads(data)  # type: ignore[no-any-return]


# ---- streams ------------------------------------------------------------------------------------


def test_a_stream_is_role_tokens_finish_done() -> None:
    assert kinds("n3") == ["role", "content", "content", "content", "finish", "done"]


def test_every_chunk_is_marked_and_of_one_answer() -> None:
    found = chunks("n2", stream_options={"include_usage": True})
    assert {chunk["system_fingerprint"] for chunk in found} == {"gateway-bench-simulator"}
    assert {chunk["id"] for chunk in found} == {"chatcmpl-sim-test-1"}
    assert {chunk["created"] for chunk in found} == {1_795_996_800}
    assert found[-1]["choices"] == []
    usage = found[-1]["usage"]
    assert (usage["completion_tokens"], usage["total_tokens"]) == (2, 5)
    assert found[-1]["metadata"]["used_provider"] == "plain"


@pytest.mark.parametrize(
    ("words", "asked", "times"),
    [
        pytest.param("n1", False, 0, id="not asked"),
        pytest.param("n1", True, 1, id="asked"),
        pytest.param("n1-usage", False, 1, id="unasked"),
        pytest.param("n1-nousage", True, 0, id="refused"),
        pytest.param("n1-doubleusage", True, 2, id="twice"),
    ],
)
def test_usage_comes_as_often_as_the_scenario_says(words: str, asked: bool, times: int) -> None:
    options = {"stream_options": {"include_usage": True}} if asked else {}
    assert kinds(words, **options).count("usage") == times


def test_usage_may_ride_with_the_finish_reason() -> None:
    last = chunks("n2-finishusage")[-1]
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["usage"]["completion_tokens"] == 2


@pytest.mark.parametrize(
    ("words", "end"),
    [
        pytest.param("n1", ["content", "finish", "done"], id="plain"),
        pytest.param("n1-nodone", ["content", "finish"], id="no done"),
        pytest.param("n1-doubledone", ["content", "finish", "done", "done"], id="done twice"),
        pytest.param("n1-nofinish", ["content", "done"], id="no finish"),
        pytest.param("n3-cut1", ["content"], id="cut"),
        pytest.param("n3-eof1", ["content"], id="clean end"),
        pytest.param("n3-reset1", ["content"], id="reset"),
        pytest.param("n3-stall1", ["content"], id="stall"),
        pytest.param("n3-error1", ["content", "error"], id="error event"),
        pytest.param("n1-error9", ["content", "error"], id="error after the last token"),
        pytest.param("n1-cut9", ["content"], id="cut after the last token"),
        pytest.param("n2-badjson1", ["content", "bad_json", "content", "finish", "done"]),
        pytest.param("empty", ["finish", "done"], id="empty answer"),
        pytest.param("n4-per3", ["content", "content", "finish", "done"], id="tokens per event"),
    ],
)
def test_a_stream_ends_as_the_scenario_says(words: str, end: list[str]) -> None:
    assert kinds(f"norole-{words}") == end


@pytest.mark.parametrize("end", ["cut", "eof", "reset", "stall", "error"])
def test_the_end_of_a_stream_is_told_to_whoever_sends_it(end: str) -> None:
    assert ask(gateway(), f"sim-n3-{end}1", stream=True).end == end


def test_tokens_are_due_at_absolute_times() -> None:
    events = events_of(streamed("n3-ttft50-itl10"))
    due = [(event.kind, event.due_ns // 1_000_000) for event in events]
    assert due == [
        ("role", 50),
        ("content", 50),
        ("content", 60),
        ("content", 70),
        ("finish", 70),
        ("done", 70),
    ]


def test_a_pause_moves_what_follows() -> None:
    events = events_of(streamed("n3-itl1-pause2-pausefor100-norole"))
    assert [event.due_ns // 1_000_000 for event in events] == [0, 1, 102, 102, 102]


def test_jitter_is_seeded_bounded_and_keeps_the_order() -> None:
    due = [event.due_ns for event in events_of(streamed("n50-ttft20-itl2-jitter5"))]
    assert due == [event.due_ns for event in events_of(streamed("n50-ttft20-itl2-jitter5"))]
    assert due == sorted(due)
    even = [20e6 + 2e6 * n for n in range(50)]
    assert all(t - 5e6 <= d for t, d in zip(even, due[1:51], strict=True))
    assert len(set(due)) > 20


def test_an_early_role_comes_with_the_headers() -> None:
    exchange = ask(gateway(), "sim-ttft50-headers10-earlyrole", stream=True)
    assert exchange.headers_ns == 10_000_000
    assert next(exchange.writes).due_ns == 10_000_000


@pytest.mark.parametrize(
    ("words", "roles"),
    [("n2", [True, False, False]), ("n2-norole", [True, False]), ("n2-allroles", [True, True])],
)
def test_the_role_is_where_the_scenario_puts_it(words: str, roles: list[bool]) -> None:
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks(words)]
    assert ["role" in delta for delta in deltas if delta] == roles


@pytest.mark.parametrize(
    ("words", "field"),
    [("reasoning2", "reasoning"), ("reasoningcontent2", "reasoning_content")],
)
def test_reasoning_comes_first_in_either_spelling(words: str, field: str) -> None:
    found = chunks(f"n1-{words}-usage-norole")
    assert [list(chunk["choices"][0]["delta"])[-1] for chunk in found[:3]] == [
        field,
        field,
        "content",
    ]
    assert found[-1]["usage"]["completion_tokens_details"] == {"reasoning_tokens": 2}
    assert found[-1]["usage"]["completion_tokens"] == 3


def test_hidden_reasoning_is_billed_and_waited_for() -> None:
    events = events_of(streamed("n1-hiddenreasoning5-ttft10-itl1-norole"))
    assert (events[0].kind, events[0].due_ns) == ("content", 15_000_000)
    assert chunks("n1-hiddenreasoning5-usage")[-1]["usage"]["completion_tokens"] == 6


@pytest.mark.parametrize("words", ["tools2", "tools2-norole", "tools2-allroles"])
def test_tool_calls_come_in_pieces(words: str) -> None:
    found = chunks(words)
    calls = [c for chunk in found for c in chunk["choices"][0]["delta"].get("tool_calls", ())]
    texts = ["".join(c["function"]["arguments"] for c in calls if c["index"] == i) for i in (0, 1)]
    assert [json.loads(text) for text in texts] == [{"text": "simulated"}] * 2
    assert [c["function"]["name"] for c in calls if "id" in c] == ["simulated_tool"] * 2
    assert len(calls) == 8
    assert found[-1]["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(("word", "reason"), [("length", "length"), ("filtered", "content_filter")])
def test_a_finish_reason_can_be_set(word: str, reason: str) -> None:
    assert chunks(f"n1-{word}")[-1]["choices"][0]["finish_reason"] == reason


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("crlf", "data: {X}\r\n\r\n", id="CR LF"),
        pytest.param("cr", "data: {X}\r\r", id="CR"),
        pytest.param("nospace", "data:{X}\n\n", id="no space"),
        pytest.param("comments", ": simulated\n\ndata: {X}\n\n", id="comment"),
        pytest.param("pings", "event: ping\ndata: {}\n\ndata: {X}\n\n", id="ping"),
        pytest.param("named", "event: chunk\ndata: {X}\nid: 0\n\n", id="named"),
        pytest.param("multiline", 'data: {"id":"chatcmpl-sim-test-1",\ndata: "object"', id="lines"),
    ],
)
def test_events_are_spelt_as_the_scenario_says(words: str, expected: str) -> None:
    first = streamed(f"n1-{words}")[0].data.decode()
    start, _, end = expected.partition("{X}")
    assert first.startswith(start)
    assert first.endswith(end)
    end_line = "event: done" if words == "named" else "[DONE]"
    assert end_line in text_of(streamed(f"n1-{words}"))


def test_a_named_error_is_an_error_event() -> None:
    assert "event: error\ndata: " in text_of(streamed("n3-error1-named"))


def test_bad_json_is_no_json() -> None:
    broken = [e for e in events_of(streamed("n2-badjson1")) if e.kind == "bad_json"]
    with pytest.raises(json.JSONDecodeError):
        json.loads(broken[0].data.removeprefix(b"data: "))


# ---- writes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        pytest.param("n4", [1] * 7, id="each its own"),
        pytest.param("n4-coalesce3", [3, 3, 1], id="three in one"),
        pytest.param("n4-hold", [7], id="all at the end"),
        pytest.param("n4-buffer1", [1] * 7, id="a full buffer"),
        pytest.param("n4-buffer600", [3, 3, 1], id="a buffer of 600 bytes"),
        pytest.param("n4-buffer", [7], id="a buffer that never fills"),
    ],
)
def test_events_share_writes_as_the_scenario_says(words: str, sizes: list[int]) -> None:
    writes = streamed(words)
    assert [len(write.events) for write in writes] == sizes
    assert text_of(writes) == text_of(streamed("n4")).replace('"sim-n4"', f'"sim-{words}"')


def test_a_held_write_is_due_with_its_last_event() -> None:
    (write,) = streamed("n3-ttft5-itl10-hold")
    assert write.due_ns == 25_000_000


def test_a_split_write_cuts_inside_characters_and_names_its_event_once() -> None:
    writes = streamed("n6-unicode-split3")
    assert all(len(write.data) <= 3 for write in writes)
    assert [event.kind for event in events_of(writes)] == kinds("n6")
    assert any("\ufffd" in write.data.decode(errors="replace") for write in writes)


def test_a_compressed_stream_can_be_read_up_to_each_write() -> None:
    exchange = ask(gateway(), "sim-n3-gzip", stream=True)
    assert ("content-encoding", "gzip") in exchange.headers
    unpacker, plain = zlib.decompressobj(wbits=31), streamed("n3")
    writes = list(exchange.writes)
    for packed, write in zip(writes, plain, strict=False):
        expected = write.data.replace(b'"sim-n3"', b'"sim-n3-gzip"')
        assert unpacker.decompress(packed.data) == expected
    unpacker.decompress(writes[-1].data)
    assert unpacker.eof


# ---- JSON bodies ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "fields"), [("n3", {}), ("n3-json", {"stream": True})])
def test_one_json_body_has_the_whole_answer(words: str, fields: dict[str, Any]) -> None:
    exchange = ask(gateway(), f"sim-{words}-ttft5-itl10", **fields)
    assert exchange.headers[0] == ("content-type", "application/json")
    assert "x-cost-usd" in dict(exchange.headers)
    writes = list(exchange.writes)
    assert writes[0].due_ns == 25_000_000
    body = json.loads(writes[0].data)
    message = body["choices"][0]["message"]
    assert len(message["content"].split()) == 3
    assert body["usage"]["completion_tokens"] == 3
    assert body["system_fingerprint"] == "gateway-bench-simulator"


def test_a_json_body_has_reasoning_and_calls() -> None:
    message = body_of(ask(gateway(), "sim-reasoning2-tools"))["choices"][0]["message"]
    assert message["content"] is None
    assert len(message["reasoning"].split()) == 2
    assert message["tool_calls"][0]["function"]["name"] == "simulated_tool"


@pytest.mark.parametrize("words", ["n3-nousage", "n3-nofinish", "n3-hiddenreasoning2", "empty"])
def test_a_json_body_leaves_out_what_the_scenario_leaves_out(words: str) -> None:
    body = body_of(ask(gateway(), f"sim-{words}"))
    assert ("usage" in body) == (words != "n3-nousage")
    assert (body["choices"][0]["finish_reason"] is None) == (words == "n3-nofinish")
    assert set(body["choices"][0]["message"]) == {"role", "content"}


@pytest.mark.parametrize("end", ["cut1", "eof1", "stall1", "reset1"])
def test_a_json_body_breaks_off_in_the_middle(end: str) -> None:
    exchange = ask(gateway(), f"sim-n9-{end}")
    data = b"".join(write.data for write in exchange.writes)
    assert exchange.length is not None
    assert len(data) == exchange.length // 2


def test_a_json_body_can_be_an_error_or_no_json() -> None:
    assert "error" in body_of(ask(gateway(), "sim-error1"))
    broken = ask(gateway(), "sim-badjson1")
    with pytest.raises(json.JSONDecodeError):
        body_of(broken)


def test_a_json_body_can_be_compressed() -> None:
    (write,) = ask(gateway(), "sim-n3-gzip").writes
    assert json.loads(gzip.decompress(write.data))["usage"]["completion_tokens"] == 3


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 599])
def test_an_http_error_has_the_status_and_openai_s_shape(status: int) -> None:
    exchange = ask(gateway(), f"sim-status{status}-ttft20", stream=True)
    assert exchange.status == exchange.record.status == status
    assert ("retry-after" in dict(exchange.headers)) == (status == 429)
    (write,) = exchange.writes
    assert write.due_ns == 20_000_000
    error = json.loads(write.data)["error"]
    assert error["code"] == f"simulated_{status}"
    assert exchange.head(chunked=True, close=True).startswith(b"HTTP/1.1 %d " % status)


def test_an_http_error_can_be_a_page_and_say_when_to_come_back() -> None:
    exchange = ask(gateway(), "sim-status502-html-retryafter7")
    assert dict(exchange.headers)["content-type"].startswith("text/html")
    assert dict(exchange.headers)["retry-after"] == "7"
    assert b"".join(write.data for write in exchange.writes).startswith(b"<html>")


def test_a_provider_fails_on_its_share_of_prompts() -> None:
    host = gateway()
    found = [ask(host, "flaky/demo-small", prompt=str(n)).status for n in range(300)]
    assert 30 < found.count(503) < 90
    assert found == [ask(gateway(), "flaky/demo-small", prompt=str(n)).status for n in range(300)]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        pytest.param({"authorization": ""}, "no API key was given", id="none"),
        pytest.param({"authorization": "Bearer x"}, "is not the simulator's", id="wrong"),
        pytest.param({"authorization": "test-token"}, "is not the simulator's", id="no scheme"),
    ],
)
def test_a_wrong_key_is_refused_in_openai_s_shape(key: dict[str, str], said: str) -> None:
    exchange = ask(gateway(), "demo-small", headers=key)
    assert exchange.status == 401
    error = body_of(exchange)["error"]
    assert said in error["message"]
    assert error["code"] == "invalid_api_key"


def test_another_token_can_be_set() -> None:
    host = gateway(token="other")  # noqa: S106 - no secret
    assert ask(host, "demo-small").status == 401
    assert ask(host, "demo-small", headers={"authorization": "Bearer other"}).status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("HEAD", "/health?x=1", 200),
        ("GET", "/models", 200),
        ("GET", "/v1/models", 200),
        ("POST", "/v1/models", 405),
        ("GET", "/v1/chat/completions", 405),
        ("GET", "/v2", 404),
        ("HEAD", "/v2", 404),
    ],
)
def test_paths_and_methods_are_told_apart(method: str, path: str, status: int) -> None:
    exchange = get(path, method)
    assert exchange.status == status
    assert ("allow" in dict(exchange.headers)) == (status == 405)
    assert bool(list(exchange.writes)) == (method != "HEAD")
    assert exchange.length


def test_health_says_that_it_is_simulated() -> None:
    body = body_of(get("/health"))
    assert (body["simulated"], body["health"], body["message"]) == (True, {"status": "ok"}, "OK")


# ---- what gateways do ----------------------------------------------------------------------------


def test_more_requests_than_the_rate_are_refused_until_a_second_has_passed() -> None:
    host = gateway()
    times = [0, 1, 2, SECOND - 1, SECOND, SECOND + 1]
    found = [ask(host, "sim-rate2", at_ns=at_ns).status for at_ns in times]
    assert found == [200, 200, 429, 429, 200, 200]


def test_the_cache_answers_a_repeated_prompt_at_once_and_for_nothing() -> None:
    host, words = gateway(), "sim-n3-ttft50-cache"
    first, again = ask(host, words), ask(host, words)
    other = ask(host, words, prompt="else")
    caches = [dict(exchange.headers)["x-cache"] for exchange in (first, again, other)]
    assert caches == ["MISS", "HIT", "MISS"]
    (write,) = again.writes
    assert write.due_ns == 0
    body = json.loads(write.data)
    assert (body["usage"]["cost"], body["metadata"]["cached"]) == (0.0, True)


def test_the_cache_can_be_bypassed() -> None:
    host = gateway()
    bypass = {"x-no-cache": "true"}
    for _ in range(2):
        exchange = ask(host, "sim-n3-cache", headers=bypass)
        assert "x-cache" not in dict(exchange.headers)
        assert exchange.record.cache_hit is None


def test_the_cache_forgets_the_oldest_prompts() -> None:
    host = Gateway(settings=Settings(instance="test"), book=AnswerBook(None), most_cached=2)
    found = [ask(host, "sim-n0-cache", prompt=prompt).record.cache_hit for prompt in "abcca"]
    assert found == [False, False, False, True, False]


def test_another_provider_answers_when_one_is_down() -> None:
    exchange = ask(gateway(), "fast/demo-small", headers={"x-simulate": "fallback"})
    headers = dict(exchange.headers)
    assert (headers["x-served-provider"], headers["x-fallback"]) == ("slow", "true")
    metadata = body_of(exchange)["metadata"]
    assert (metadata["requested_provider"], metadata["used_provider"]) == ("fast", "slow")


def test_a_forbidden_fallback_is_an_outage() -> None:
    headers = {"x-simulate": "fallback", "x-no-fallback": "1"}
    exchange = ask(gateway(), "fast/demo-small", headers=headers)
    assert (exchange.status, exchange.record.provider) == (503, "fast")


def test_prompt_tokens_can_be_reported_as_cached() -> None:
    usage = body_of(ask(gateway(), "sim-n1-promptcached", prompt="x" * 28))["usage"]
    assert (usage["prompt_tokens"], usage["prompt_tokens_details"]) == (10, {"cached_tokens": 5})


def test_the_header_lies_over_the_model_name() -> None:
    exchange = ask(gateway(), "sim-n3-gzip", headers={"x-simulate": "tokens=5"})
    assert exchange.record.planned_tokens == 5
    assert ("content-encoding", "gzip") in exchange.headers


def test_an_unknown_word_is_a_bad_request() -> None:
    exchange = ask(gateway(), "sim-n3", headers={"x-simulate": "tokns=5"})
    assert exchange.status == 400
    assert "did you mean `tokens`" in body_of(exchange)["error"]["message"]


def test_names_from_the_client_cannot_break_out_of_a_header() -> None:
    exchange = ask(gateway(), "a\r\nx-evil: 1/sim-n1:eu\r\n")
    head = exchange.head(chunked=True, close=False)
    assert b"\r\nx-evil" not in head
    assert head.count(b"\r\n\r\n") == 1


def test_the_head_says_how_long_the_body_is_and_what_becomes_of_the_connection() -> None:
    exchange = ask(gateway(), "sim-n1", stream=True)
    assert b"transfer-encoding: chunked\r\n" in exchange.head(chunked=True, close=False)
    old = exchange.head(chunked=False, close=True)
    assert b"transfer-encoding" not in old
    assert b"connection: close\r\n" in old
    assert b"x-gateway-bench-simulator: 1\r\n" in old
    assert b"x-request-id: sim-test-1\r\n" in old
    assert b"content-length" in get("/").head(chunked=True, close=False)


def test_the_same_seed_gives_the_same_answer_and_another_another() -> None:
    def said(seed: int) -> str:
        exchange = ask(gateway(seed=seed), "demo-small")
        return str(body_of(exchange)["choices"][0]["message"]["content"])

    assert said(1) == said(1)
    assert said(1) != said(2)


def test_a_record_names_what_was_asked_and_planned() -> None:
    record = ask(
        gateway(), "fast/demo-small:eu", stream=True, max_tokens=7, headers={"x-request-id": "c"}
    ).record
    assert (record.model, record.provider, record.stream) == ("fast/demo-small:eu", "fast", True)
    assert (record.client_request_id, record.x_request_id) == ("c", "sim-test-1")
    assert (record.planned_tokens, record.from_book, record.fallback) == (7, False, False)


def test_a_missing_book_is_an_empty_one() -> None:
    assert AnswerBook(Path("/nonexistent/book.jsonl")).look_up("x") is None
