"""What a gateway does against its orders is found out, dialect by dialect, down to the reports."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench_process import KEY, Bench
from tests.lies import DIALOGUES, Answer, Dialogue
from tests.lying_gateway import LyingGateway, lying_gateway

pytestmark = pytest.mark.integration

CASE = "fixed_output_stream"


def measured(bench: Bench, words: tuple[str, ...]) -> dict[str, Any]:
    """Run the command and return its document."""
    command = ("bench", *words, "--url", bench.url, "--api-key-env", KEY, "--yes", "--quiet")
    code, told, said = bench.do(*command)
    assert code == 0, said
    files = told["files"]
    assert isinstance(files, list)
    document: dict[str, Any] = json.loads(Path(files[0]).read_text())
    document["files"] = files
    document["said"] = said
    return document


def words_of(name: str, dialogue: Dialogue, runs: int) -> tuple[str, ...]:
    pin = ("--mapping", dialogue.mapping) if dialogue.mapping else ()
    case = ("--case", CASE, "--runs", str(runs), "--warmup", "0")
    return ("writer-1", *pin, "--dialect", name, *case)


def check_words(gateway: LyingGateway, dialogue: Dialogue) -> None:
    """Every request pinned, bypassed and forbade in the dialect's words, and carried a tag."""
    for sent in gateway.requests:
        assert sent["body"]["model"] == dialogue.sent_model
        assert dialogue.sent_headers.items() <= sent["headers"].items()
        assert dialogue.sent_fields.items() <= sent["body"].items()
        everything = json.dumps(sent)
        assert (
            "bench-run" in everything or "gateway-bench-" in everything or "benchrun" in everything
        )


@pytest.mark.parametrize("name", DIALOGUES)
def test_every_lie_is_marked_counted_left_out_and_listed(name, tmp_path):
    dialogue = DIALOGUES[name]
    lies = {
        "pinViolated": dialogue.pin_violated,
        "fallback": dialogue.fallback,
        "cacheHit": dialogue.cache_hit,
    }
    script = [dialogue.honest, *(lie for each in lies.values() for lie in each), dialogue.honest]
    with lying_gateway(tmp_path, script) as gateway:
        bench = Bench(folder=tmp_path, url=gateway.url)
        document = measured(bench, words_of(name, dialogue, len(script)))
        check_words(gateway, dialogue)
    expected = [None, *(reason for reason, each in lies.items() for _ in each), None]
    assert [marked(trial) for trial in document["trials"]] == expected
    (target,) = document["summary"]["targets"]
    counts = {reason: len(each) for reason, each in lies.items()}
    assert target["performance"]["excluded"] == counts
    assert target["notPinned"] == counts
    assert target["performance"]["trials"] == 2
    text = next(each["text"] for each in document["trust"] if each["code"] == "not_pinned")
    assert document["trials"][1]["id"] in text
    report = Path(document["files"][1]).read_text()
    assert "Not only the pinned target was measured" in report
    header, *rows = Path(document["files"][4]).read_text().splitlines()
    columns = [header.split(",").index(reason) for reason in counts]
    for row, reason in zip(rows, expected, strict=True):
        cells = [row.split(",")[column] for column in columns]
        assert ("true" in cells) == (reason is not None)


def marked(trial: dict[str, Any]) -> str | None:
    response = trial["response"]
    if trial["pinViolated"]:
        return "pinViolated"
    if response["fallback"]:
        return "fallback"
    return "cacheHit" if response["cacheHit"] else None


def test_a_hidden_cache_is_told_by_an_answer_that_comes_again(tmp_path):
    body = tmp_path / "body.json"
    messages = [{"role": "user", "content": "the same each time"}]
    body.write_text(json.dumps({"model": "writer-1", "messages": messages, "stream": True}))
    script: list[Answer] = [{}, {"headers": {"x-cache": "MISS"}, "like": 0}, {}]
    with lying_gateway(tmp_path, script) as gateway:
        bench = Bench(folder=tmp_path, url=gateway.url)
        words = ("--body", str(body), "--runs", "3", "--warmup", "0", "--dialect", "plain")
        document = measured(bench, words)
    first, again, fresh = document["trials"]
    assert [marked(trial) for trial in (first, again, fresh)] == [None, "cacheHit", None]
    assert again["response"]["replayOf"] == first["id"]
    text = next(each["text"] for each in document["trust"] if each["code"] == "not_pinned")
    assert "without saying so: an earlier answer came again" in text


def test_a_providers_prompt_cache_is_told_apart_and_never_excluded(tmp_path):
    cached = {"usage": {"prompt_tokens_details": {"cached_tokens": 40}}}
    with lying_gateway(tmp_path, [{}, cached, {}]) as gateway:
        bench = Bench(folder=tmp_path, url=gateway.url)
        document = measured(bench, words_of("plain", DIALOGUES["plain"], 3))
    (target,) = document["summary"]["targets"]
    performance = target["performance"]
    assert performance["trials"] == 3
    assert performance["promptCached"]["trials"] == 1
    assert performance["excluded"] == {"pinViolated": 0, "fallback": 0, "cacheHit": 0}
    assert [t["response"]["usage"]["cachedPromptTokens"] for t in document["trials"]][1] == 40


def test_another_name_without_proof_is_noted_and_what_cannot_be_is_told(tmp_path):
    script: list[Answer] = [
        {"model": "something-else", "headers": {"x-request-id": "same"}},
        {
            "headers": {"x-request-id": "same"},
            "usage": {"prompt_tokens_details": {"cached_tokens": 4000}},
        },
    ]
    with lying_gateway(tmp_path, script) as gateway:
        bench = Bench(folder=tmp_path, url=gateway.url)
        document = measured(bench, words_of("plain", DIALOGUES["plain"], 2))
    told = {each["code"]: each["text"] for each in document["trust"]}
    assert "`something-else` (1 time)" in told["answers_name_another_model"]
    assert "the request id of another answer (1: `same`)" in told["impossible_claims"]
    assert [marked(trial) for trial in document["trials"]] == [None, None]


def test_scores_leave_out_what_another_model_answered(tmp_path):
    dialogue = DIALOGUES["cloudflare"]
    with lying_gateway(tmp_path, dialogue.pin_violated[:1]) as gateway:
        bench = Bench(folder=tmp_path, url=gateway.url)
        pin = ("--mapping", "acme", "--dialect", "cloudflare")
        quality = ("--case", "tool_selection_exact", "--runs", "1")
        document = measured(bench, ("writer-1", *pin, *quality))
    (target,) = document["summary"]["targets"]
    assert target["attempted"] == 1
    assert (target["quality"]["attempted"], target["quality"]["score"]) == (0, None)
    assert target["notPinned"]["pinViolated"] == 1
