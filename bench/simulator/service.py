"""Requests in, exchanges out: routes, key, models, limits and cache of the gateway.

Knows nothing of sockets; its state is what a gateway remembers between requests.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

from bench import __version__
from bench.simulator import answering
from bench.simulator.agents import opening_of, turn_of
from bench.simulator.book import AnswerBook
from bench.simulator.catalogue import models_body, simulated
from bench.simulator.chat import fingerprint
from bench.simulator.errors import RequestRefused
from bench.simulator.exchange import Exchange, Request, RequestRecord
from bench.simulator.messages import MessagesApi
from bench.simulator.providers import Route, find_route
from bench.simulator.responses import ResponsesApi
from bench.simulator.scenario import Scenario, header_words, parse_words
from bench.simulator.spoken import Api, ChatApi

_CHAT: Api = ChatApi()
_APIS: Mapping[str, Api] = MappingProxyType(
    {"/chat/completions": _CHAT, "/messages": MessagesApi(), "/responses": ResponsesApi()}
)
"""By the path below a base."""
_READ_PATHS = frozenset({"/", "/health", "/v1/models", "/models"})
_SECOND_NS = 1_000_000_000
_NOT_ALLOWED = 405


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the command line says."""

    seed: int = 1
    token: str = "test-token"  # noqa: S105 - the seeded token of test gateways, no secret
    any_model: bool = False
    instance: str
    """Tells the request ids of one process from those of another."""


@dataclass(slots=True, kw_only=True)
class Gateway:
    """The simulated gateway."""

    settings: Settings
    book: AnswerBook
    most_cached: int = 4096
    """Prompts that the response cache remembers; the oldest is forgotten first."""
    utcnow: Callable[[], datetime] = lambda: datetime.now(UTC)
    _count: int = 0
    _recent: dict[str, deque[int]] = field(default_factory=dict)
    _cached: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)

    def handle(self, request: Request) -> Exchange:
        """Return what to send for ``request``; refusals are answers too."""
        record = self.new_record(request)
        exchange = self._answered(request, record)
        if request.method == "HEAD":
            exchange.writes = iter(())
        return exchange

    def _answered(self, request: Request, record: RequestRecord) -> Exchange:
        try:
            return self._route(request, record)
        except RequestRefused as refusal:
            api = _api(request.path) or _CHAT
            body = api.error(refusal.code, refusal.message, status=refusal.status)
            headers = [("allow", _allowed(request.path))] if refusal.status == _NOT_ALLOWED else []
            return answering.fixed(record, refusal.status, body, headers)

    def new_record(self, request: Request) -> RequestRecord:
        """Return an empty record with the next number and request id."""
        self._count += 1
        return RequestRecord(
            id=self._count,
            x_request_id=f"sim-{self.settings.instance}-{self._count}",
            client_request_id=request.headers.get("x-request-id"),
            connection=request.connection,
            method=request.method,
            path=request.path,
            received_ns=request.received_ns,
        )

    def _route(self, request: Request, record: RequestRecord) -> Exchange:
        path, method = request.path.partition("?")[0], request.method
        api = _api(path)
        if api is not None and method == "POST":
            return self._ask(api, request, record)
        if path in _READ_PATHS and method in {"GET", "HEAD"}:
            body = models_body() if path.endswith("models") else _health()
            return answering.fixed(record, 200, body, [])
        if api is not None or path in _READ_PATHS:
            message = f"{method} is not allowed on {path}"
            raise RequestRefused(_NOT_ALLOWED, "method_not_allowed", message)
        raise RequestRefused(404, "not_found", f"nothing is served at {method} {path}")

    def _ask(self, api: Api, request: Request, record: RequestRecord) -> Exchange:
        record.api = api.name
        self._check_key(request)
        if api.name == "messages" and "anthropic-version" not in request.headers:
            raise RequestRefused(400, "invalid_request", "anthropic-version: header is required")
        chat = api.read(request.body)
        record.model, record.stream = chat.model, bool(chat.stream)
        record.prompt_hash = fingerprint(chat.messages)
        route = find_route(chat.model, any_model=self.settings.any_model)
        scenario = _overlaid(request.headers.get("x-simulate", ""), route.scenario)
        record.provider = route.provider
        failure = self._failure(request, record, (api, route), scenario)
        if failure is not None:
            return failure
        fallback = scenario.fallback
        provider = route.backup if fallback else route.provider
        record.provider, record.fallback = provider, fallback
        record.cache_hit = self._is_cached(request, record, scenario)
        return self._answer(record, (api, chat), route, scenario)

    def _answer(
        self, record: RequestRecord, asked: answering.Asked, route: Route, scenario: Scenario
    ) -> Exchange:
        chat = asked[1]
        entry = self.book.look_up(record.prompt_hash or "")
        if entry is None and turn_of(chat.messages):
            entry = self.book.look_up(fingerprint(opening_of(chat.messages)))
            entry = entry if entry is not None and entry.task is not None else None
        return answering.answer(
            record,
            asked,
            route,
            scenario,
            entry=entry,
            clock=(self.settings.seed, int(self.utcnow().timestamp())),
        )

    def _check_key(self, request: Request) -> None:
        own, given = request.headers.get("x-api-key"), request.headers.get("authorization", "")
        if own != self.settings.token and given != f"Bearer {self.settings.token}":
            what = (
                "no API key was given"
                if not (given or own)
                else "the API key is not the simulator's"
            )
            message = f"{what}; send `Authorization: Bearer` with the token it was started with"
            raise RequestRefused(401, "invalid_api_key", message)

    def _failure(
        self,
        request: Request,
        record: RequestRecord,
        served: tuple[Api, Route],
        scenario: Scenario,
    ) -> Exchange | None:
        """Return the error answer that the scenario has for this request, if any."""
        api, route = served
        if self._is_limited(request, route, scenario):
            limit = f"more than {scenario.rate_per_s} requests within a second"
            message = f"simulated rate limit: {limit}"
            return answering.failure(record, scenario, 429, message, api=api)
        if scenario.status is not None:
            message = f"simulated HTTP status {scenario.status}"
            return answering.failure(record, scenario, scenario.status, message, api=api)
        draws = (self.settings.seed, route.provider, record.prompt_hash)
        if answering.fails(scenario, draws):
            message = "simulated outage of the provider"
            return answering.failure(record, scenario, 503, message, api=api)
        if scenario.fallback and is_set(request, "x-no-fallback"):
            message = f"provider `{route.provider}` is down and fallback is forbidden (simulated)"
            return answering.failure(record, scenario, 503, message, api=api)
        return None

    def _is_limited(self, request: Request, route: Route, scenario: Scenario) -> bool:
        if scenario.rate_per_s is None:
            return False
        recent = self._recent.setdefault(f"{route.provider}/{route.model}", deque())
        while recent and request.received_ns - recent[0] >= _SECOND_NS:
            recent.popleft()
        if len(recent) >= scenario.rate_per_s:
            return True
        recent.append(request.received_ns)
        return False

    def _is_cached(
        self, request: Request, record: RequestRecord, scenario: Scenario
    ) -> bool | None:
        """Return whether the response cache answers; ``None`` = it is bypassed or there is none."""
        if not scenario.cache or is_set(request, "x-no-cache"):
            return None
        key = (record.model or "", record.prompt_hash or "")
        hit = key in self._cached
        self._cached[key] = None
        self._cached.move_to_end(key)
        if len(self._cached) > self.most_cached:
            self._cached.popitem(last=False)
        return hit


@lru_cache(maxsize=1024)
def _overlaid(header: str, scenario: Scenario) -> Scenario:
    return parse_words(header_words(header), scenario)


def is_set(request: Request, header: str) -> bool:
    """Return whether a switch header says yes."""
    return request.headers.get(header, "").strip().lower() in {"true", "1", "yes"}


def _allowed(path: str) -> str:
    return "POST" if _api(path) is not None else "GET, HEAD"


def _api(path: str) -> Api | None:
    """Return the protocol that is served at a path, with or without ``/v1``."""
    return _APIS.get(path.partition("?")[0].removeprefix("/v1"))


def _health() -> bytes:
    body: dict[str, Any] = {"message": "OK", "version": __version__, **simulated()}
    return msgspec.json.encode({**body, "health": {"status": "ok"}})
