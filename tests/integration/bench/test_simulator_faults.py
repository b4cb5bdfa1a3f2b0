from contextlib import closing

import pytest

from tests.integration.bench.test_simulator import (
    connect,
    raw_request,
    read_to_end,
    read_until,
)
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("faults"), is_covered=True) as made:
        yield made


def answer(simulator, model, **fields) -> bytes:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request(model, extra="connection: close\r\n", **fields))
        return read_to_end(connection)


@pytest.mark.parametrize(
    ("model", "ended", "end", "tokens"),
    [
        pytest.param("sim-n5-cut3", "cut", b"}]}\n\n\r\n", 3, id="cut"),
        pytest.param("sim-n5-eof3", "eof", b"0\r\n\r\n", 3, id="clean end"),
        pytest.param("sim-n5-error3", "error", b"0\r\n\r\n", 3, id="error event"),
        pytest.param("sim-n5-nodone", "completed", b"0\r\n\r\n", 5, id="no done"),
    ],
)
def test_a_broken_stream_ends_in_its_own_way(simulator, model, ended, end, tokens) -> None:
    data = answer(simulator, model, stream=True)
    assert data.endswith(end)
    assert b"[DONE]" not in data
    assert data.count(b'"content":"') == tokens + 1
    record = simulator.last_record(model)
    assert (record["ended"], record["sent_tokens"]) == (ended, tokens)


def test_a_reset_in_the_middle_is_a_reset(simulator) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request("sim-n5-itl5-reset2", stream=True))
        with pytest.raises(ConnectionResetError):
            read_to_end(connection)
    assert simulator.last_record("sim-n5-itl5-reset2")["ended"] == "reset"


@pytest.mark.parametrize("stream", [True, False])
def test_a_reset_before_the_headers_sends_nothing(simulator, stream) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request("sim-reset", stream=stream))
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
    record = simulator.last_record("sim-reset")
    assert (record["ended"], record["headers_sent_ns"], record["events"]) == ("reset", None, [])


def test_a_stall_is_silent_until_the_client_leaves(simulator) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request("sim-n5-stall2", stream=True))
        data = read_until(connection, b'"content":"', times=3)
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            read_until(connection, b"never sent")
    assert data.startswith(b"HTTP/1.1 200 OK")
    record = simulator.last_record("sim-n5-stall2")
    assert (record["ended"], record["sent_tokens"]) == ("stall", 2)


def test_a_hanging_request_gets_not_one_byte(simulator) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request("sim-hang"))
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1)
    assert simulator.last_record("sim-hang")["ended"] == "hang"


@pytest.mark.parametrize("word", ["cut1", "eof1"])
def test_a_json_body_breaks_off_and_the_connection_with_it(simulator, word) -> None:
    with closing(connect(simulator)) as connection:
        connection.sendall(raw_request(f"sim-n9-{word}"))
        head, _, body = read_to_end(connection).partition(b"\r\n\r\n")
    length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    assert 0 < len(body) < length


def test_a_json_error_keeps_the_connection(simulator) -> None:
    with closing(connect(simulator)) as connection:
        for _ in range(2):
            connection.sendall(raw_request("sim-error1"))
            assert b'"error"' in read_until(connection, b"}")


def test_all_events_in_one_write_come_in_one_chunk(simulator) -> None:
    body = answer(simulator, "sim-n20-hold", stream=True).partition(b"\r\n\r\n")[2]
    size = int(body.partition(b"\r\n")[0], 16)
    assert body.endswith(b"\r\n0\r\n\r\n")
    assert size > 20 * 200
    assert len({at_ns for at_ns, *_ in simulator.last_record("sim-n20-hold")["events"]}) == 1


def test_a_long_undelayed_answer_lets_others_have_their_turn(simulator) -> None:
    with closing(connect(simulator)) as long, closing(connect(simulator)) as short:
        long.sendall(raw_request("sim-n100000", stream=True))
        read_until(long, b'"content":"', times=2)
        short.sendall(raw_request("sim-n1", stream=True))
        read_until(short, b"0\r\n\r\n")
    assert simulator.last_record("sim-n1")["ended"] == "completed"
