"""What a gateway needs and whether it answers."""

import http.server
import socket
import threading

import pytest

from orchestrator.services import address_of, check_services
from orchestrator.settings import Service
from tests.free_port import free_port
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed():
    return free_port()


def fault(service, environment=None, *, timeout_s=PATIENCE_S):
    (state,) = check_services([service], environment or {}, timeout_s=timeout_s)
    return state.fault


def test_what_accepts_connections_answers(listening):
    assert fault(Service(name="x", tcp=f"127.0.0.1:{listening}")) is None


def test_a_closed_port_is_told_with_owner(closed):
    service = Service(name="Redis", tcp=f"127.0.0.1:{closed}", note="ops")
    (state,) = check_services([service], {})
    assert state.line() == f"Redis at 127.0.0.1:{closed}: nothing listens there (ops)"


def test_a_name_that_does_not_resolve_is_told():
    assert fault(Service(name="x", tcp="no-such-host.invalid:1"))


@pytest.mark.parametrize(
    ("service", "environment", "place"),
    [
        pytest.param(
            Service(name="x", url_env="U", default="h:1"),
            {"U": "postgres://u:p@db:7/x"},
            ("db", 7),
            id="a URL with a port",
        ),
        pytest.param(
            Service(name="x", url_env="U"),
            {"U": "postgresql+psycopg2://db/x"},
            ("db", 5432),
            id="a URL whose scheme tells the port",
        ),
        pytest.param(Service(name="x", url_env="U"), {"U": "db"}, None, id="no URL"),
        pytest.param(Service(name="x", url_env="U"), {"U": "redis://h:x"}, None, id="no port"),
        pytest.param(Service(name="x", url_env="U", default="h:1"), {}, ("h", 1), id="default"),
        pytest.param(
            Service(name="x", host_env="H", port_env="P", default="h:1"),
            {"H": "other"},
            ("other", 1),
            id="a host of its own with the usual port",
        ),
        pytest.param(
            Service(name="x", host_env="H", port_env="P"), {"P": "9"}, ("127.0.0.1", 9), id="a port"
        ),
        pytest.param(Service(name="x", host_env="H"), {"H": "h"}, None, id="no port anywhere"),
        pytest.param(Service(name="x", tcp="[::1]:5"), {}, ("::1", 5), id="IPv6"),
    ],
)
def test_where_a_service_is(service, environment, place):
    assert address_of(service, environment) == place


def test_a_variable_without_an_address_is_a_fault():
    assert fault(Service(name="x", url_env="U"), {"U": "nonsense"}) == "holds no host and port"


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(self.path.strip("/")))
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format, *args):  # type: ignore[explicit-override]  # noqa: A002
        pass


def test_an_http_service_answers_below_500(closed):
    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        assert fault(Service(name="x", http=f"{url}/404")) is None
        assert fault(Service(name="x", http=f"{url}/503")) == "answers HTTP 503"
        server.shutdown()
        thread.join()
    assert fault(Service(name="x", http=f"http://127.0.0.1:{closed}/")) == "nothing listens there"


def test_a_service_that_accepts_and_says_nothing_is_told(listening):
    silent = Service(name="x", http=f"http://127.0.0.1:{listening}/")
    assert fault(silent, timeout_s=0.5) == "no answer in time"
