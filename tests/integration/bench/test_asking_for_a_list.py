"""One GET on a socket of its own: what servers may do to it."""

import gzip
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bench.catalogue.asking import Unanswered, get
from tests.free_port import free_port

pytestmark = pytest.mark.integration
_TLS = Path(__file__).parents[2] / "cases" / "tls"


@contextmanager
def answering(answer: bytes | None) -> Iterator[tuple[int, list[bytes]]]:
    """Answer one connection and close it; ``None`` = stay silent until the other side goes."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(65536))
                if answer is None:
                    connection.recv(1)
                else:
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], heard
        thread.join()


def test_it_asks_under_the_name_at_the_address_that_was_judged():
    with answering(b"HTTP/1.1 200 OK\r\nX-Who: us\r\nContent-Length: 2\r\n\r\nok") as (port, heard):
        answer = get(
            f"http://gateway.test:{port}/v1/models?a=b",
            headers=(("Authorization", "Bearer k"),),
            addresses=("127.0.0.1",),
            tls=None,
        )
    assert (answer.status, answer.body, answer.headers["x-who"]) == (200, b"ok", "us")
    lines = heard[0].decode().split("\r\n")
    assert lines[0] == "GET /v1/models?a=b HTTP/1.1"
    assert f"Host: gateway.test:{port}" in lines
    assert "Authorization: Bearer k" in lines


def test_chunks_and_content_codings_are_undone():
    packed = gzip.compress(b"listed")
    head = b"HTTP/1.1 404 No\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    with answering(head + body) as (port, _):
        answer = get(f"http://h:{port}/", headers=(), addresses=("127.0.0.1",), tls=None)
    assert (answer.status, answer.body) == (404, b"listed")


def test_the_next_address_is_asked_where_the_first_one_refuses():
    with answering(b"HTTP/1.0 200 OK\r\n\r\nto the end") as (port, _):
        # The server listens on the one address alone.
        addresses = ("127.0.0.2", "127.0.0.1")
        answer = get(f"http://h:{port}/", headers=(), addresses=addresses, tls=None)
    assert answer.body == b"to the end"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(b"", "closed the connection", id="closed at once"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "closed the", id="cut"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n\r\n", "not an HTTP/1.1 response", id="no http"),
        pytest.param(None, "no answer within 0.2 s", id="silent"),
    ],
)
def test_half_an_answer_is_none_and_says_why(answer, said):
    patience_s = 30.0 if answer is not None else 0.2
    with answering(answer) as (port, _), pytest.raises(Unanswered, match=said):
        get(
            f"http://h:{port}/",
            headers=(),
            addresses=("127.0.0.1",),
            tls=None,
            timeout_s=patience_s,
        )


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        pytest.param((), "the name `h` was not found", id="no address"),
        pytest.param(("127.0.0.1",), "connection refused", id="refused"),
    ],
)
def test_nobody_there_is_told_in_the_system_s_words(addresses, said):
    with pytest.raises(Unanswered, match=said):
        get(f"http://h:{free_port()}/", headers=(), addresses=addresses, tls=None)


def test_a_name_in_another_script_is_sent_as_the_network_writes_it():
    with answering(b"HTTP/1.1 204 No\r\n\r\n") as (port, heard):
        get(f"http://bücher.test:{port}/", headers=(), addresses=("127.0.0.1",), tls=None)
    assert f"Host: xn--bcher-kva.test:{port}".encode() in heard[0]


def test_a_certificate_nobody_vouches_for_is_named_without_the_library_s_file_and_line() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_TLS / "expired.pem", _TLS / "expired-key.pem")
    trusting = ssl.create_default_context(cafile=str(_TLS / "expired.pem"))
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as connection, suppress(OSError):
                context.wrap_socket(connection, server_side=True)

        server = threading.Thread(target=serve)
        server.start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(Unanswered) as caught:
            get(url, headers=(), addresses=("127.0.0.1",), tls=trusting)
        server.join()
    assert str(caught.value) == "no TLS connection: certificate: certificate has expired"


class Impatient(ssl.SSLContext):
    """Notes how long a handshake may take, and does none."""

    def wrap_socket(  # type: ignore[explicit-override]  # typing.override came with 3.12
        self, sock: socket.socket, *_: object, **__: object
    ) -> ssl.SSLSocket:
        self.noted_s = sock.gettimeout()
        raise ssl.SSLError(1, "enough")


def test_a_handshake_may_take_what_is_left_though_another_address_would_be_next() -> None:
    context = Impatient(ssl.PROTOCOL_TLS_CLIENT)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(Unanswered):
            get(url, headers=(), addresses=["127.0.0.1"] * 2, tls=context, timeout_s=1e6)
    assert context.noted_s is not None
    assert context.noted_s > 1e5
