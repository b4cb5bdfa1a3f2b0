"""The sections on how a run was made and what happened to it: for who wants to repeat or doubt."""

from collections.abc import Iterable, Mapping
from typing import Any

from bench.model.document import Document
from bench.model.run_config import RunConfig
from bench.model.surroundings import Vantage
from bench.model.target import Prices
from bench.report.figures import ABSENT, duration, ms, trial_name, usd
from bench.report.resources import resources
from bench.report.tables import Section, Table, text

MOST_ROWS = 200
"""Longest list in a report; the JSON document has all of it."""


def making_sections(document: Document) -> tuple[Section, ...]:
    """Return the sections that describe the run itself."""
    return (
        _incidents(document),
        _not_run(document),
        _possibly_billed(document),
        _gateway(document),
        resources(document),
        _targets(document),
        _run(document),
        _options(document),
    )


def _incidents(document: Document) -> Section:
    return Section(
        id="incidents",
        title="Incidents",
        note="What happened to the gateway, to this client or to the machine.",
        table=Table(
            columns=("Class", "At", "What happened", "Trials touched"),
            rows=tuple(
                text(
                    incident.incident_class,
                    incident.at,
                    incident.summary,
                    str(len(incident.touched_trials)),
                )
                for incident in document.incidents
            ),
            words=3,
        ),
    )


def _not_run(document: Document) -> Section:
    rows = [
        text(trial_name(entry.trial_id), entry.reason) for entry in document.not_run[:MOST_ROWS]
    ]
    more = len(document.not_run) - len(rows)
    is_over = document.completeness.in_flight is None
    note = "`gateway-bench resume` asks these." if is_over else "The run goes on and asks these."
    return Section(
        id="not-run",
        title=f"Planned and {'never sent' if is_over else 'not sent yet'}",
        note=note + _more(more),
        table=Table(columns=("Trial", "Reason"), rows=tuple(rows), words=2),
        is_folded=True,
    )


def _possibly_billed(document: Document) -> Section:
    rows = [
        text(trial_name(start.trial_id), str(start.attempt), usd(start.reserve_usd))
        for start in document.possibly_billed[:MOST_ROWS]
    ]
    return Section(
        id="possibly-billed",
        title="Possibly billed",
        note="Sent, and no end was recorded: the provider may bill up to the reserve."
        + _more(len(document.possibly_billed) - len(rows)),
        table=Table(columns=("Trial", "Attempt", "Reserve"), rows=tuple(rows)),
    )


def _gateway(document: Document) -> Section:
    gateway = document.gateway
    facts: list[tuple[str, str]] = []
    if gateway is not None:
        facts = [
            *_flat("build", gateway.build),
            *_flat("identity", gateway.identity),
            (
                "ready after",
                f"{ms(gateway.ready_after_ms)} ms" if gateway.ready_after_ms else ABSENT,
            ),
            *_flat("exit", gateway.exit or {}),
        ]
    return Section(
        id="gateway",
        title="Gateway",
        note="The local build that was measured, proven to be this one, and how it ended.",
        table=Table(columns=("Fact", "Value"), rows=_rows(facts), words=2),
        is_folded=True,
    )


def _targets(document: Document) -> Section:
    rows = []
    for target in document.targets:
        metadata = target.metadata
        prices = metadata.prices
        per_million = [
            usd(price * 1_000_000) if price is not None else ABSENT
            for price in (
                prices.input_usd if prices else None,
                prices.output_usd if prices else None,
            )
        ]
        rows.append(
            text(
                target.id,
                target.display_name,
                target.model,
                metadata.provider or ABSENT,
                metadata.region or ABSENT,
                *per_million,
                _source(prices) if prices else ABSENT,
            )
        )
    return Section(
        id="targets",
        title="What was measured",
        note="Prices are per million tokens.",
        table=Table(
            columns=(
                "Target",
                "Name",
                "Sent as model",
                "Provider",
                "Region",
                "Input price",
                "Output price",
                "Prices from",
            ),
            rows=tuple(rows),
            words=5,
        ),
        is_folded=True,
    )


_PROTOCOLS = {
    "chat": "chat completions",
    "messages": "messages (Anthropic)",
    "responses": "responses (OpenAI)",
}


def _source(prices: Prices) -> str:
    detail = f" {prices.source_detail}" if prices.source_detail else ""
    return f"{prices.source or ABSENT}{detail}, {prices.as_of or 'no date'}"


def _further_cases(config: RunConfig) -> list[tuple[str, str]]:
    """Return where cases came from that don't ship; nothing where all of them do."""
    facts = []
    external = config.external_suite
    if external is not None:
        data = external.data or "its own data"
        left_out = f"; {external.skipped} left out as unsupported" if external.skipped else ""
        facts.append(("external suite", f"{external.suite}, {external.mode}, {data}{left_out}"))
    if config.user_cases:
        facts.append(("own cases", ", ".join(config.user_cases)))
    return facts


def _run(document: Document) -> Section:
    config, environment = document.config, document.environment
    facts = [
        ("run", document.run_id or ABSENT),
        ("started", document.started_at),
        ("finished", document.finished_at),
        ("took", duration(document.duration_ms)),
        ("address", config.url),
        ("wire protocol", _PROTOCOLS[config.api]),
        ("profile", config.profile or config.suite or ABSENT),
        *_further_cases(config),
        ("seed", str(config.seed)),
        ("budget per target", _budget(config.budget_ms)),
        ("timeout per request", duration(config.timeout_ms)),
        ("response cache", "allowed" if config.allow_cache else "bypassed"),
        ("fallback", "allowed" if config.allow_fallback else "forbidden"),
        *((("HTTP 429", _retries(config.retry_429)),) if config.retry_429 else ()),
        ("streaming", "yes" if config.stream else "no: first-token times can't be measured"),
        ("key from", config.api_key_env or ABSENT),
        ("plan hash", document.plan_hash or ABSENT),
        *_vantage(document),
        *_sandbox(document),
    ]
    if environment is not None:
        load = environment.load_average
        facts += [
            ("tool", f"gateway-bench {environment.tool_version}, Python {environment.python}"),
            ("machine", f"{environment.host}, {environment.system}"),
            ("processors", str(environment.cpu_count or ABSENT)),
            ("load at start", ", ".join(f"{value:.2f}" for value in load) if load else ABSENT),
        ]
    return Section(
        id="run",
        title="How it was made",
        note="Enough to repeat the run.",
        table=Table(columns=("Fact", "Value"), rows=_rows(facts), words=2),
        is_folded=True,
    )


def _sandbox(document: Document) -> Iterable[tuple[str, str]]:
    """Yield how the code of agentic trials was held."""
    held = document.sandbox
    if held is None:
        return
    yield "sandbox", f"{held.get('level')} ({held.get('walls')})"
    for item in held.get("items") or ():
        state = "" if item.get("held") else "NOT HELD: "
        yield f"sandbox: {item.get('id')}", f"{state}{item.get('how')}"


def _vantage(document: Document) -> Iterable[tuple[str, str]]:
    seen = document.vantage
    if seen is None:
        return
    if seen.address:
        yield "connected to", seen.address
    if seen.round_trip_ms is not None:
        yield "TCP connect, shortest", f"{ms(seen.round_trip_ms)} ms (about one round trip)"
    yield from _connections(seen)
    for name, value in seen.edge.items():
        yield f"edge: {name}", value


def _connections(seen: Vantage) -> Iterable[tuple[str, str]]:
    """Yield what connections spoke, through what, and how long each phase of opening one took."""
    if seen.http_versions:
        tls = f" over {seen.tls}" if seen.tls else ", not encrypted"
        yield "HTTP", f"{' and '.join(seen.http_versions)}{tls}"
    if seen.proxy:
        yield "proxy", f"{seen.proxy}: every time holds its part, too"
    phases = {
        "name": seen.dns_p50_ms,
        "TCP": seen.round_trip_p50_ms,
        "proxy": seen.proxy_p50_ms,
        "TLS": seen.tls_p50_ms,
    }
    told = [f"{name} {ms(median)} ms" for name, median in phases.items() if median is not None]
    if told:
        yield f"opening one of {seen.connections} connections (medians)", ", ".join(told)


def _options(document: Document) -> Section:
    return Section(
        id="options",
        title="Settings and where they came from",
        note="Secrets are not recorded.",
        table=Table(
            columns=("Setting", "Value", "From"),
            rows=tuple(
                text(name, _said(option.value), option.origin)
                for name, option in document.options.items()
            ),
            words=3,
        ),
        is_folded=True,
    )


def _retries(most: int) -> str:
    return f"sent again up to {most} times, except under load"


def _budget(budget_ms: float | None) -> str:
    return "none" if budget_ms is None else duration(budget_ms)


def _said(value: object) -> str:
    match value:
        case None:
            return ABSENT
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(map(str, value)) or ABSENT
        case _:
            return str(value)


def _flat(name: str, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return ((f"{name}: {key}", _said(value)) for key, value in values.items())


def _rows(facts: Iterable[tuple[str, str]]) -> tuple[Any, ...]:
    return tuple(text(name, value) for name, value in facts)


def _more(count: int) -> str:
    return f" {count:,} more are in the JSON document." if count > 0 else ""
