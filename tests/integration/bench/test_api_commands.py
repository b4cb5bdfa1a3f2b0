"""The command in each wire protocol, from the first request to a resumed end, on the simulator."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.model.case import ChatRequest, Message
from bench.wire import PROTOCOLS
from tests.bench_process import KEY, Bench
from tests.simulator_process import Simulator, running_simulator

pytestmark = pytest.mark.integration
all_apis = pytest.mark.parametrize("api", sorted(PROTOCOLS))
MODEL = "sim-ttft1-itl1-n4"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    with running_simulator(tmp_path_factory.mktemp("simulator"), "--any-model") as running:
        yield running


def _words(simulator: Simulator, api: str, *more: str) -> tuple[str, ...]:
    where = ("--url", simulator.url, "--api", api, "--api-key-env", KEY)
    return (*where, "--yes", "--quiet", "--json", *more)


def _document(told: dict[str, Any]) -> dict[str, Any]:
    files: list[str] = told["files"]
    path = Path(next(name for name in files if name.endswith(".jsonl")))
    document: dict[str, Any] = json.loads(path.with_suffix(".json").read_bytes())
    return document


@pytest.mark.parametrize("api", ["messages", "responses"])
def test_a_run_that_was_cut_goes_on_in_its_protocol(
    tmp_path: Path, simulator: Simulator, api: str
) -> None:
    bench = Bench(tmp_path, simulator.url)
    case = ("--case", "fixed_output_stream", "--runs", "2", "--warmup", "0")
    header = ("--key-header", "X-Api-Key")
    words = _words(simulator, api, *case, *header, "--budget", "1ms")
    cut = bench.start("bench", MODEL, *words)
    _, first, _ = bench.finish(cut)
    assert (first["reason"], first["done"]) == ("budget", 1)
    rest = bench.start("resume", "latest", "--no-budget", "--yes", "--quiet", "--json")
    _, second, _ = bench.finish(rest)
    assert (second["reason"], second["done"]) == ("done", 2)
    document = _document(second)
    assert document["config"]["api"] == api
    assert document["config"]["url"] == f"{simulator.base_url}{PROTOCOLS[api].path}"
    for trial in document["trials"]:
        response = trial["response"]
        assert response["error"] is None
        assert response["finishReason"] == "stop"
        record = simulator.record_of(response["requestId"])
        assert (record["api"], record["prompt_hash"]) == (api, trial["promptHash"])


@all_apis
def test_a_body_goes_out_as_it_is_in_its_protocol(
    tmp_path: Path, simulator: Simulator, api: str
) -> None:
    messages = (Message(role="system", content="be short"), Message(role="user", content="hi"))
    request = ChatRequest(messages=messages, max_tokens=20)
    body = tmp_path / "body.json"
    body.write_bytes(PROTOCOLS[api].encode(request, model=MODEL, stream=False))
    bench = Bench(tmp_path, simulator.url)
    asked = bench.start(
        "bench", "--body", str(body), "--runs", "1", "--warmup", "0", *_words(simulator, api)
    )
    (trial,) = _document(bench.finish(asked)[1])["trials"]
    response = trial["response"]
    assert (response["error"], response["timing"]["firstContentMs"]) == (None, None)
    assert simulator.record_of(response["requestId"])["prompt_hash"] == trial["promptHash"]
