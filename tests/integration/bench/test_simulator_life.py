import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from bench.simulator.book import AnswerBook
from tests.free_port import free_port
from tests.integration.bench.test_simulator import connect, raw_request, read_to_end, read_until
from tests.patience import PATIENCE_S, until
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration
PATIENT = ("--drain", str(PATIENCE_S))
"""For a simulator whose answers are to end by something else than its own patience."""


def run(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "bench.simulator", *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_simulator_ends_with_status_0_at_a_signal(tmp_path, number) -> None:
    with running_simulator(tmp_path, is_covered=True) as simulator:
        with httpx.Client(timeout=PATIENCE_S) as client:
            client.get(f"{simulator.url}/health")  # its connection stays open, idle
            assert simulator.stop(number) == 0
        with pytest.raises(ConnectionRefusedError):
            connect(simulator)


def test_a_signal_lets_answers_end_but_takes_no_new_ones(tmp_path) -> None:
    # More than fits between the two, so that it can't have left before it is read.
    with (
        running_simulator(tmp_path, *PATIENT, is_covered=True) as simulator,
        closing(connect(simulator, room=131_072)) as connection,
    ):
        connection.sendall(raw_request("sim-n40000", stream=True) * 2)
        begun = read_until(connection, b'"content":"', times=2)
        os.kill(simulator.process.pid, signal.SIGTERM)
        until(lambda: is_deaf(simulator))
        data = begun + read_to_end(connection)
        assert simulator.process.wait(PATIENCE_S) == 0
        assert data.endswith(b"0\r\n\r\n")
        assert data.count(b"HTTP/1.1 200 OK") == 1
        (record,) = simulator.records()
        assert (record["ended"], record["sent_tokens"]) == ("completed", 40_000)


def test_answers_that_do_not_end_in_time_are_cut(tmp_path) -> None:
    with (
        running_simulator(tmp_path, "--drain", "0.1", is_covered=True) as simulator,
        closing(connect(simulator)) as connection,
    ):
        connection.sendall(raw_request("sim-n20-itl2000", stream=True))
        read_until(connection, b'"content":"', times=2)
        assert simulator.stop() == 0
        (record,) = simulator.records()
        assert record["ended"] == "stopped"


def test_a_second_signal_ends_it_at_once(tmp_path) -> None:
    with (
        running_simulator(tmp_path, *PATIENT, is_covered=True) as simulator,
        closing(connect(simulator)) as connection,
    ):
        connection.sendall(raw_request("sim-n20-stall1", stream=True))
        read_until(connection, b'"content":"', times=2)
        os.kill(simulator.process.pid, signal.SIGTERM)
        until(lambda: is_deaf(simulator))  # two at once would come in no order
        assert simulator.process.poll() is None
        assert simulator.stop(signal.SIGINT) == 128 + signal.SIGINT
        assert simulator.records()[0]["ended"] == "stall"


def is_deaf(simulator) -> bool:
    try:
        connect(simulator).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_taken_port_is_one_message_and_status_3() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        ended = run("--port", str(port))
    assert ended.returncode == 3
    assert ended.stderr.splitlines() == [
        f"error: port {port} on 127.0.0.1 is taken by another process",
        "hint: name another port, or `--port 0` for a free one",
    ]


def test_a_host_of_another_machine_is_one_message_and_status_3() -> None:
    ended = run("--host", "192.0.2.1")
    assert ended.returncode == 3
    assert ended.stderr.startswith("error: 192.0.2.1 port 0 can't be listened on: ")


def test_a_log_that_cannot_be_written_is_one_message_and_status_5(tmp_path) -> None:
    path = tmp_path / "none" / "log.jsonl"
    ended = run("--log", str(path))
    assert ended.returncode == 5
    expected = f"error: request log `{path}` can't be written: No such file or directory\n"
    assert ended.stderr.startswith(expected)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--port", "70000"), "`70000` is no port; 0 (any free one) to 65535"),
        (("--port", "x"), "`x` is no port"),
        (("--drain", "-1"), "`-1` is no time; 0 to 3600 seconds"),
        (("--drain", "soon"), "`soon` is no time"),
        (("--sed", "x"), "unrecognized arguments"),
    ],
)
def test_wrong_usage_is_status_2(options, said) -> None:
    ended = run(*options)
    assert ended.returncode == 2
    assert said in ended.stderr


def test_it_serves_on_though_nobody_reads_its_ready_line(tmp_path) -> None:
    port = free_port()
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "bench.simulator", "--port", str(port)]
    buffered = {name: it for name, it in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(words, stdout=writer, env=buffered)
    os.close(writer)
    try:
        answered = until(lambda: health_of(process, port))
        assert answered is not None
        assert answered.headers["x-gateway-bench-simulator"] == "1"
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def health_of(process, port) -> httpx.Response | None:
    assert process.poll() is None
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=PATIENCE_S)
    except httpx.ConnectError:
        return None


def test_other_options_are_heard(tmp_path) -> None:
    options = ("--any-model", "--token", "other", "--seed", "7", "--host", "::1")
    with running_simulator(tmp_path, *options, is_covered=True) as simulator:
        assert simulator.url.startswith("http://[::1]:")
        body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "hi"}]}
        url = f"{simulator.base_url}/chat/completions"
        refused = httpx.post(url, json=body, headers=simulator.headers, timeout=PATIENCE_S)
        assert refused.status_code == 401
        headers = {"authorization": "Bearer other"}
        answered = httpx.post(url, json=body, headers=headers, timeout=PATIENCE_S)
        assert answered.json()["model"] == "gpt-4o-mini"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_what_went_missing_is_said_at_the_end_and_stops_no_stream(tmp_path) -> None:
    book = tmp_path / "book.jsonl"
    book.write_text("nonsense\n")
    words = ("--port", "0", "--log", "/dev/full", "--book", str(book))
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.simulator", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().split()[2]
    body = {"model": "sim-n1", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    headers = {"authorization": "Bearer test-token"}
    url = f"{url}/v1/chat/completions"
    answer = httpx.post(url, json=body, headers=headers, timeout=PATIENCE_S)
    process.terminate()
    _, talk = process.communicate(timeout=PATIENCE_S)
    assert answer.text.endswith("data: [DONE]\n\n")
    assert process.returncode == 0
    assert talk.splitlines() == [
        "warning: 1 lines of the answer book are no entries",
        "warning: 1 records could not be written to the request log",
    ]


def said(book, key) -> str:
    entry = book.look_up(key)
    assert entry is not None
    return str(entry.answer.content)


def test_the_book_takes_whole_lines_ignores_bad_ones_and_notices_a_new_file(tmp_path) -> None:
    path = tmp_path / "book.jsonl"
    book = AnswerBook(path)
    assert book.look_up("a") is None
    path.write_text('{"promptHash":"a","answer":{"content":"A"}}\n\nnonsense\n{"promptHash":"b",')
    assert said(book, "a") == "A"
    assert (book.look_up("b"), book.bad_lines, len(book)) == (None, 1, 1)
    with path.open("a") as file:
        file.write('"answer":{"content":"B"}}\n')
    assert said(book, "b") == "B"
    fresh = tmp_path / "new"
    fresh.write_text('{"promptHash":"a","answer":{"content":"other"}}\n')
    fresh.replace(path)
    assert said(book, "a") == "other"
    assert said(book, "b") == "B"
