"""Messages and responses through real gateways, held against the simulator behind them."""

import pytest

from bench.journal import read_journal
from tests.real.gateways import Standing, journal_of

pytestmark = pytest.mark.real

MODELS = ("sim-ttft50-itl10-n40", "sim-ttft20-itl10-reasoningcontent10-n20", "sim-n600")


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
@pytest.mark.parametrize("api", ["messages", "responses"])
def test_an_answer_comes_whole_through_a_gateway_that_may_translate_it(
    standing: Standing, api: str, stream: str, tell
):
    # Portkey speaks to an upstream in the protocol of its provider.
    native = {"messages": "anthropic", "responses": "openai"}[api]
    provider = ("-H", f"x-portkey-provider: {native}") if standing.gateway.name == "portkey" else ()
    done = standing.bench(*MODELS, words=("--api", api, stream, "--runs", "1", *provider))
    assert done.code == 0, done.err
    trials = read_journal(journal_of(done)).trials
    assert {trial.target_id for trial in trials} == set(MODELS)
    for trial in trials:
        record, response = standing.sent(trial), trial.response
        assert response.error is None
        said = sum(size for _, kind, size, _ in record["events"] if kind == "content")
        assert len(response.content) == said
        assert response.usage is not None
        assert response.usage.prompt_tokens == record["prompt_tokens"]
        assert response.usage.completion_tokens == record["planned_tokens"]
        assert response.finish_reason == ("length" if "n600" in trial.target_id else "stop")
        assert (response.timing.first_token_ms is None) is (stream == "--no-stream")
        if response.stream_chunks:
            assert trial.sent_at_ns is not None
            first_ns = trial.sent_at_ns + response.stream_chunks[0].at_ms * 1e6
            assert first_ns >= next(at for at, kind, *_ in record["events"] if kind != "role")
    upstreams = {standing.sent(trial)["api"] for trial in trials}
    tell(f"{standing.gateway.name}: {api} reaches the upstream as {', '.join(sorted(upstreams))}")
