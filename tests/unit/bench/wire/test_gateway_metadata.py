"""What Vercel's gateway says inside deltas and messages reaches the claims."""

import json

import pytest

from bench.dialects import DIALECTS, read_claims
from bench.stream.deltas import Read
from bench.wire.chat import ChatCompletions

METADATA = {
    "gateway": {
        "routing": {"finalProvider": "bedrock", "totalProviderAttemptCount": 1},
        "cost": "0.0042",
        "generationId": "gen_1",
    }
}
DELTA = {"choices": [{"index": 0, "delta": {"provider_metadata": METADATA}}]}
LENIENT = {"choices": [{"delta": {"content": ["x"], "provider_metadata": METADATA}}]}
END = {"id": "x", "model": "a/m", "choices": [{"delta": {}, "finish_reason": "stop"}]}
WHOLE = {
    "model": "a/m",
    "choices": [
        {"message": {"content": "x", "provider_metadata": METADATA}, "finish_reason": "stop"}
    ],
}


def events(*texts: object) -> bytes:
    return b"".join(b"data: " + json.dumps(text).encode() + b"\n\n" for text in texts)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(events(DELTA, END), id="in-a-delta-of-its-own"),
        pytest.param(events(LENIENT, END), id="in-an-event-of-another-shape"),
        pytest.param(json.dumps(WHOLE).encode(), id="in-the-message"),
    ],
)
def test_metadata_inside_the_answer_is_read(body):
    decoder = ChatCompletions().decoder(stream=True)
    decoder.feed(Read(1, 0, body))
    claims = read_claims(DIALECTS["vercel"], {}, decoder.finish().fields)
    assert (claims.served_provider, claims.served_model) == ("bedrock", "a/m")
    assert (claims.cost_usd, claims.generation_id) == (0.0042, "gen_1")
    assert claims.fallback is False
