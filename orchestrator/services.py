"""Whether what the gateway needs is there: one TCP connection or one HTTP request per service.

A connection that is accepted proves that something listens, not that it is healthy: the gateway's
own health says that. Nothing is started here and nothing is written.
"""

import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from orchestrator.settings import Service

_PORTS = {"postgres": 5432, "postgresql": 5432, "redis": 6379, "rediss": 6379, "mysql": 3306}
_SERVER_FAULT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceState:
    """One service at one moment."""

    name: str
    address: str
    fault: str | None
    """Why it is not usable; ``None`` = it answered."""
    note: str | None

    def line(self) -> str:
        """Return name, address, fault and owner in one line."""
        owner = f" ({self.note})" if self.note else ""
        return f"{self.name} at {self.address}: {self.fault or 'answers'}{owner}"


def check_services(
    services: Iterable[Service], environment: Mapping[str, str], *, timeout_s: float = 2.0
) -> tuple[ServiceState, ...]:
    """Ask each service once.

    Args:
        services: What the gateway needs.
        environment: Of the gateway: some services are where its variables say.
        timeout_s: For one connection or answer.
    """
    return tuple(_state(one, environment, timeout_s) for one in services)


def address_of(service: Service, environment: Mapping[str, str]) -> tuple[str, int] | None:
    """Return host and port of a TCP service; ``None`` when a variable holds no address."""
    if service.tcp is not None:
        return _split(service.tcp)
    fallback = _split(service.default) if service.default else None
    if service.url_env and (url := environment.get(service.url_env)):
        return _of_url(url)
    host = environment.get(service.host_env or "") or (fallback[0] if fallback else "127.0.0.1")
    port = environment.get(service.port_env or "") or (str(fallback[1]) if fallback else "")
    return (host, int(port)) if port.isdigit() else None


def _state(service: Service, environment: Mapping[str, str], timeout_s: float) -> ServiceState:
    if service.http is not None:
        address, fault = service.http, _http_fault(service.http, timeout_s)
    elif (place := address_of(service, environment)) is None:
        address, fault = f"`{service.url_env or service.port_env}`", "holds no host and port"
    else:
        address = f"{place[0]}:{place[1]}"
        fault = _tcp_fault(place, timeout_s)
    return ServiceState(name=service.name, address=address, fault=fault, note=service.note)


def _of_url(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme.partition("+")[0])
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port else None


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]") or "127.0.0.1", int(port)


def _tcp_fault(place: tuple[str, int], timeout_s: float) -> str | None:
    try:
        with socket.create_connection(place, timeout=timeout_s):
            return None
    except OSError as error:
        return _said(error)


def _http_fault(url: str, timeout_s: float) -> str | None:
    import http.client  # with the parser of mail headers: only where a service is named

    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    try:
        connection.request("GET", parts.path or "/")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return _said(error)
    finally:
        connection.close()
    return f"answers HTTP {status}" if status >= _SERVER_FAULT else None


def _said(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
