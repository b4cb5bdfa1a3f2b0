"""The client on real sockets: time limits and every way an answer ends."""

import asyncio
import gzip
from collections.abc import Sequence

import pytest

from bench.client.chat_client import Timeouts
from bench.model.trial import Response
from tests.asking import ask, asking, call, code, run
from tests.fake_gateway import (
    ANSWER,
    DONE,
    END,
    FINISH,
    HEAD,
    Act,
    Step,
    chunk,
    content,
    fake_gateway,
)

pytestmark = pytest.mark.integration


# ---- time limits ---------------------------------------------------------------------------------


LIMIT_MS = 5_000
"""So long that a machine which stands still for a while has sent what comes before the silence."""
LIMITED: dict[str, tuple[Sequence[Step], str]] = {
    "no headers": ([Act.HOLD], "header_timeout"),
    "half the headers": ([HEAD[:20], Act.HOLD], "header_timeout"),
    "a stall": ([HEAD + content("hi"), Act.HOLD], "total_timeout"),
}


@pytest.fixture(scope="module")
def limited() -> dict[str, Response]:
    """Ask for all that ends by a limit at once, because they wait for it together."""

    async def scene() -> dict[str, Response]:
        silent = ask(HEAD + content("one"), Act.HOLD, timeouts=Timeouts(idle_ms=LIMIT_MS))
        async with asyncio.TaskGroup() as group:
            tasks = {
                name: group.create_task(ask(*steps, ms=LIMIT_MS))
                for name, (steps, _) in LIMITED.items()
            }
            tasks["a silent stream"] = group.create_task(silent)
        return {name: task.result() for name, task in tasks.items()}

    return run(scene())


@pytest.mark.parametrize("name", LIMITED)
def test_the_limit_of_a_request_says_where_it_struck(
    limited: dict[str, Response], name: str
) -> None:
    response = limited[name]
    assert response.error is not None
    assert (response.error.code, response.error.seed_code) == (LIMITED[name][1], "TimeoutError")
    assert response.timing.total_ms is not None
    assert response.timing.total_ms >= LIMIT_MS


def test_a_silent_stream_is_an_idle_timeout_and_keeps_what_came(
    limited: dict[str, Response],
) -> None:
    response = limited["a silent stream"]
    assert code(response) == "idle_timeout"
    assert (response.content, response.status) == ("one", 200)
    assert response.timing.first_content_ms is not None


def test_a_slow_stream_that_goes_on_is_not_idle() -> None:
    steps: list[Step] = [
        HEAD,
        *(step for _ in range(4) for step in (0.05, content("x"))),
        FINISH + DONE + END,
    ]
    response = run(ask(*steps, timeouts=Timeouts(idle_ms=20_000)))
    assert code(response) is None


def test_a_body_that_does_not_end_after_done_is_closed_and_marked() -> None:
    async def scene() -> Response:
        answer: list[Step] = [HEAD + content("hi") + FINISH + DONE, Act.HOLD]
        async with fake_gateway(answer) as gateway, asking(gateway.url) as client:
            response = (await client.send(call()))[1]
            await gateway.left.wait()
            return response

    response = run(scene())
    assert code(response) is None
    assert response.timing.body_not_ended
    assert response.timing.total_ms == response.timing.last_content_ms


def test_a_body_that_ends_late_after_done_is_read_to_its_end() -> None:
    # A machine that stands still for a second in between makes it too late, but not each time.
    tries = (run(ask(HEAD + content("hi") + FINISH + DONE, 0.1, END)) for _ in range(3))
    response = next((each for each in tries if not each.timing.body_not_ended), None)
    assert response is not None
    assert response.timing.total_ms is not None
    assert response.timing.total_ms > (response.timing.last_content_ms or 0)


# ---- cuts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "expected", "text"),
    [
        pytest.param([Act.CLOSE], "connect_reset", "", id="closed without a word"),
        pytest.param([Act.RESET], "connect_reset", "", id="reset without a word"),
        pytest.param([HEAD + content("a"), Act.CLOSE], "stream_incomplete", "a", id="closed"),
        pytest.param([HEAD + content("a"), 0.05, Act.RESET], "connect_reset", "a", id="reset"),
        pytest.param([HEAD + content("a") + END], "stream_incomplete", "a", id="ended early"),
        pytest.param(
            [HEAD + content("a") + FINISH + DONE, Act.CLOSE], None, "a", id="closed after done"
        ),
        pytest.param([b"SSH-2.0-OpenSSH_9.2\r\n", Act.HOLD], "invalid_http", "", id="no HTTP"),
        pytest.param([HEAD + END], "empty_answer", "", id="empty"),
        pytest.param(
            [HEAD + chunk(b"data: {oops\n\n") + FINISH + DONE + END],
            "invalid_stream_json",
            "",
            id="wrong JSON",
        ),
        pytest.param(
            [b"HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n"],
            "http_302",
            "",
            id="redirect",
        ),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 60_000, Act.HOLD],
            "response_too_large",
            "",
            id="endless headers",
        ),
    ],
)
def test_every_way_to_end_has_its_code(
    steps: Sequence[Step], expected: str | None, text: str
) -> None:
    response = run(ask(*steps))
    assert (code(response), response.content) == (expected, text)


def test_a_redirect_is_not_followed_and_the_key_goes_nowhere() -> None:
    async def scene() -> tuple[Response, int]:
        async with fake_gateway(ANSWER) as other:
            moved: Step = (
                f"HTTP/1.1 307 X\r\nlocation: {other.url}\r\ncontent-length: 0\r\n\r\n".encode()
            )
            async with fake_gateway([moved]) as gateway, asking(gateway.url) as client:
                return (await client.send(call()))[1], other.connections

    response, connections = run(scene())
    assert (code(response), connections) == ("http_307", 0)


def test_a_compressed_stream_is_read_as_it_comes() -> None:
    event = b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'
    packed = gzip.compress(event)
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed)
    response = run(ask(head + packed[:20], 0.01, packed[20:]))
    assert (code(response), response.content) == (None, "hi")
