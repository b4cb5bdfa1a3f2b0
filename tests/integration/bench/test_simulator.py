import json
import socket
from contextlib import closing
from typing import Any

import httpx
import pytest

from bench.prompt import prompt_hash
from tests.patience import PATIENCE_S
from tests.simulator_process import Simulator, running_simulator

pytestmark = pytest.mark.integration

MS = 1_000_000


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator"), is_covered=True) as made:
        yield made


def ask(simulator, model, prompt="hi", headers=None, **fields: Any) -> httpx.Response:
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], **fields}
    return httpx.post(
        f"{simulator.base_url}/chat/completions",
        json=body,
        headers={**simulator.headers, **(headers or {})},
        timeout=PATIENCE_S,
    )


def record_of(simulator: Simulator, response: httpx.Response) -> dict[str, Any]:
    """Return the log's line on an answer, which follows its last byte."""
    return simulator.record_of(response.headers["x-request-id"])


def raw_request(model="sim-n2", *, method="POST", version="1.1", extra="", **fields: Any) -> bytes:
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}], **fields}
    data = json.dumps(body).encode()
    head = (
        f"{method} /v1/chat/completions HTTP/{version}\r\nhost: h\r\n{extra}"
        f"authorization: Bearer test-token\r\ncontent-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


def connect(simulator, *, room: int | None = None) -> socket.socket:
    """Connect; with ``room``, so many bytes of an answer wait at this end until they are read."""
    made = socket.socket()
    if room is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    made.settimeout(PATIENCE_S)
    try:
        made.connect(("127.0.0.1", simulator.port))
    except OSError:
        made.close()
        raise
    return made


def read_until(connection: socket.socket, end: bytes, times: int = 1) -> bytes:
    data = b""
    while data.count(end) < times:
        more = connection.recv(65536)
        assert more, f"closed after {data!r}"
        data += more
    return data


def read_to_end(connection: socket.socket) -> bytes:
    data = b""
    while more := connection.recv(65536):
        data += more
    return data


def test_the_log_has_what_was_sent_and_never_early(simulator) -> None:
    response = ask(simulator, "sim-ttft30-itl5-n6", stream=True)
    record = record_of(simulator, response)
    assert [kind for _, kind, _, _ in record["events"]] == [
        "role",
        *["content"] * 6,
        "finish",
        "done",
    ]
    received = record["received_ns"]
    tokens = [at_ns for at_ns, kind, _, _ in record["events"] if kind == "content"]
    assert all(at_ns >= received + (30 + 5 * n) * MS for n, at_ns in enumerate(tokens))
    assert all(late_ns >= 0 for *_, late_ns in record["events"])
    assert (record["first_content_ns"], record["last_content_ns"]) == (tokens[0], tokens[-1])
    assert received < record["headers_sent_ns"] < tokens[0]
    assert record["ended_ns"] >= tokens[-1]
    assert (record["ended"], record["sent_tokens"], record["status"]) == ("completed", 6, 200)
    characters = sum(characters for *_, characters, _ in record["events"])
    said = [
        json.loads(line[6:]) for line in response.text.split("\n\n") if line.startswith("data: {")
    ]
    assert characters == sum(len(s["choices"][0]["delta"].get("content", "")) for s in said)


def test_headers_come_first_unless_they_are_to_come_late(simulator) -> None:
    early = record_of(simulator, ask(simulator, "sim-n1-ttft20", stream=True))
    assert early["headers_sent_ns"] < early["events"][0][0]
    late = record_of(simulator, ask(simulator, "sim-n1-ttft20-lateheaders", stream=True))
    assert late["headers_sent_ns"] == late["events"][0][0]
    set_apart = record_of(simulator, ask(simulator, "sim-n1-ttft20-headers10", stream=True))
    assert set_apart["headers_sent_ns"] >= set_apart["received_ns"] + 10 * MS


def test_a_lingering_body_ends_after_its_last_event(simulator) -> None:
    record = record_of(simulator, ask(simulator, "sim-n1-linger30", stream=True))
    assert record["ended_ns"] >= record["events"][-1][0] + 30 * MS


def test_the_book_is_read_as_it_grows(simulator) -> None:
    key = prompt_hash(["how much?"])
    assert record_of(simulator, ask(simulator, "demo-small", "how much?"))["from_book"] is False
    simulator.add_to_book(key, "FINAL: 42", wrong="FINAL: 41")
    response = ask(simulator, "steady/demo-large", "how much?")
    assert response.json()["choices"][0]["message"]["content"] == "FINAL: 42"
    record = record_of(simulator, response)
    assert (record["from_book"], record["prompt_hash"]) == (True, key)
    wrong = ask(simulator, "steady/demo-large", "how much?", {"x-simulate": "right=0"})
    assert wrong.json()["choices"][0]["message"]["content"] == "FINAL: 41"


def test_a_compressed_stream_is_read_by_a_common_client(simulator) -> None:
    response = ask(simulator, "sim-n3-gzip-unicode", stream=True)
    assert response.headers["content-encoding"] == "gzip"
    assert response.text.endswith("data: [DONE]\n\n")


def test_a_connection_serves_many_requests(simulator) -> None:
    with httpx.Client(headers=simulator.headers, timeout=PATIENCE_S) as client:
        body = {"model": "sim-n2", "stream": True, "messages": [{"role": "user", "content": "x"}]}
        responses = [
            client.post(f"{simulator.base_url}/chat/completions", json=body) for _ in "abc"
        ]
        head = client.head(f"{simulator.url}/nowhere")
        responses.append(client.get(f"{simulator.url}/health"))
    assert (head.status_code, head.content) == (404, b"")
    assert len({record_of(simulator, r)["connection"] for r in [*responses, head]}) == 1
    assert len({response.headers["x-request-id"] for response in responses}) == 4


def test_pipelined_requests_are_answered_in_order(simulator) -> None:
    with closing(connect(simulator)) as connection:
        models = ["sim-n1-ttft20", "sim-n2", "sim-n3"]
        connection.sendall(b"".join(raw_request(m, stream=True) for m in models))
        answers = read_until(connection, b"0\r\n\r\n", times=3)
    places = [answers.index(f"x-served-model: {model}\r\n".encode()) for model in models]
    assert places == sorted(places)


def test_http_1_0_gets_the_end_of_the_connection_as_the_end_of_a_stream(simulator) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request(version="1.0", stream=True))
        answer = read_to_end(connection)
    assert b"transfer-encoding" not in answer
    assert answer.endswith(b"data: [DONE]\n\n")


def test_a_client_that_asks_for_close_gets_it(simulator) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request(extra="connection: close\r\n"))
        assert b"connection: close\r\n" in read_to_end(connection)


def test_a_client_that_waits_for_leave_gets_it(simulator) -> None:
    whole = raw_request(extra="expect: 100-continue\r\n")
    head, _, body = whole.partition(b"\r\n\r\n")
    with closing(connect(simulator)) as connection:
        connection.sendall(head + b"\r\n\r\n")
        assert read_until(connection, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert read_until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 200 OK\r\n")


def test_what_is_no_http_is_told_so_and_hung_up_on(simulator) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = read_to_end(connection)
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"this is no HTTP request" in answer


def test_more_requests_than_may_wait_are_hung_up_on(simulator) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request("sim-hang", stream=True) * 80)
        assert read_to_end(connection) == b""


def test_a_client_that_leaves_ends_the_answer(simulator) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request("sim-n1000-itl20", stream=True))
        read_until(connection, b'"content":"', times=3)
    record = simulator.last_record("sim-n1000-itl20")
    assert record["ended"] == "client_gone"
    assert record["sent_tokens"] < 1000
    assert record["ended_ns"] > record["last_content_ns"]


def test_a_slow_reader_gets_every_byte_and_honest_stamps(simulator) -> None:
    with closing(connect(simulator, room=131_072)) as connection:
        connection.sendall(raw_request("sim-n40000", stream=True, extra="connection: close\r\n"))
        first = connection.recv(100)
        # Half of the answer can't have left while nobody reads: it does not fit the buffers.
        assert not [r for r in simulator.records() if r["model"] == "sim-n40000"]
        answer = first + read_to_end(connection)
    assert answer.endswith(b"0\r\n\r\n")
    assert answer.count(b'"content":"') == 40_001
    record = simulator.last_record("sim-n40000")
    assert (record["ended"], record["sent_tokens"]) == ("completed", 40_000)


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(simulator) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n"
        )
        assert read_to_end(connection).startswith(b"HTTP/1.1 413 ")


def test_streams_side_by_side_keep_their_own_pace(simulator) -> None:
    with closing(connect(simulator)) as slow, closing(connect(simulator)) as quick:
        slow.sendall(raw_request("sim-n2-itl3600000", stream=True))
        read_until(slow, b'"content":"', times=2)
        quick.sendall(raw_request("sim-n2-ttft1", stream=True))
        read_until(quick, b"0\r\n\r\n")
    waited = simulator.last_record("sim-n2-itl3600000")
    assert (waited["ended"], waited["sent_tokens"]) == ("client_gone", 1)
    assert simulator.last_record("sim-n2-ttft1")["ended_ns"] < waited["ended_ns"]
