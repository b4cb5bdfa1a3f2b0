"""Every measuring setting: its name, how its text is read, its default. Pure.

A setting has one name in four places: `--parallel-groups`, `parallel-groups` in a toml file,
`BENCHMARK_PARALLEL_GROUPS` in the environment and in a `.env`. Text is read here only, so that
each place takes the same words and gives the same fault.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bench.dialects import DIALECTS
from bench.durations import duration_ms
from bench.load.levels import Levels, SweepRange, concurrency_levels, rate_levels, sweep_range
from bench.load.rules import Gaps, StopRule, read_gaps, read_speed, read_stop_rule
from bench.load.slo import Slo, read_slo
from bench.mappings import split_lists
from bench.presets import PRESETS

DEFAULT_BUDGET_MS = 120_000.0
"""Of the commands; profiles that need more name their own."""
_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Read = Callable[[str], Any]
"""Text → value. Raises ``ValueError`` whose text says what is needed."""


def positive_duration_ms(text: str) -> float:
    """Return a duration above zero, in milliseconds."""
    value = duration_ms(text)
    if value <= 0:
        raise ValueError("a duration above 0 is needed")
    return value


def limit_ms(text: str) -> float | None:
    """Return a duration above zero in milliseconds, or ``None`` for `none`."""
    return None if text.strip().lower() == "none" else positive_duration_ms(text)


def whole(least: int) -> Read:
    """Return a reader of whole numbers from ``least``."""

    def read(text: str) -> int:
        if not text.strip().removeprefix("-").isdecimal() or int(text) < least:
            message = f"a whole number from {least} is needed"
            raise ValueError(message)
        return int(text)

    return read


def amount(text: str) -> float:
    """Return a finite number from 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError("a number from 0 is needed")
    return value


def dollars(text: str) -> float:
    """Return US dollars above 0; a `$` in front is let through."""
    value = amount(text.strip().removeprefix("$"))
    if value == 0:
        raise ValueError("an amount of US dollars above 0 is needed")
    return value


def price_pair(text: str) -> tuple[float, float]:
    """Return assumed input and output prices in US dollars per million tokens."""
    left, slash, right = text.partition("/")
    if not slash:
        raise ValueError("two prices per million tokens are needed, `IN/OUT`, such as `0.15/0.60`")
    return amount(left), amount(right)


def flag(text: str) -> bool:
    """Return the truth of `true`, `1`, `yes`, `on` and their opposites."""
    word = text.strip().lower()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise ValueError("`true` or `false` is needed")


def words(text: str) -> str:
    """Return text that is not blank."""
    if not text.strip():
        raise ValueError("some text is needed")
    return text.strip()


def header(text: str) -> tuple[str, str]:
    """Return name and value of `Name: value`."""
    name, colon, value = text.partition(":")
    if not colon or not _TOKEN.fullmatch(name.strip()) or not value.strip().isprintable():
        raise ValueError("a header such as `Name: value` is needed")
    return name.strip(), value.strip()


def header_name(text: str) -> str:
    """Return the name of a header."""
    if not _TOKEN.fullmatch(text.strip()):
        raise ValueError("the name of a header is needed, such as `x-api-key`")
    return text.strip()


def header_variable(text: str) -> tuple[str, str]:
    """Return header name and variable of `NAME=VARIABLE`."""
    name, equals, variable = text.partition("=")
    if not equals or not _TOKEN.fullmatch(name.strip()) or not _VARIABLE.fullmatch(variable):
        raise ValueError("`HEADER=VARIABLE` is needed; the value stands in the variable")
    return name.strip(), variable


def variable(text: str) -> str:
    """Return the name of an environment variable."""
    if not _VARIABLE.fullmatch(text.strip()):
        raise ValueError("the name of a variable is needed, not the key itself")
    return text.strip()


def one_of(*names: str) -> Read:
    """Return a reader of a closed choice."""

    def read(text: str) -> str:
        if text.strip() not in names:
            message = f"one of {', '.join(f'`{name}`' for name in names)} is needed"
            raise ValueError(message)
        return text.strip()

    return read


EVERYWHERE = frozenset({"env", "dotenv", "file"})
Kind = Literal["one", "many", "list", "switch"]
"""``many``: repeatable; ``list``: repeatable with comma lists; ``switch``: true or false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting."""

    name: str
    """As in a toml file and behind `--`."""
    read: Read = words
    kind: Kind = "one"
    default: Any = None
    secret: bool = False
    """Faults and `config show` don't repeat its value."""
    places: frozenset[str] = EVERYWHERE
    """Where it may stand besides the command line."""

    @property
    def field(self) -> str:
        """Its name in ``Settings``."""
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return _VARIABLES.get(self.name, "BENCHMARK_" + self.field.upper())


_VARIABLES = {"url": "BENCHMARK_API_URL"}
_FLAG_ONLY: frozenset[str] = frozenset()
_NOT_IN_FILES = frozenset({"env"})
"""What a stranger's worktree must not decide: whether unknown cost or a weak sandbox is accepted."""


def _switch(name: str, *, default: bool = False, places: frozenset[str] | None = None) -> Setting:
    return Setting(
        name=name,
        read=flag,
        kind="switch",
        default=default,
        places=EVERYWHERE if places is None else places,
    )


SETTINGS: Mapping[str, Setting] = {
    setting.field: setting
    for setting in (
        Setting(name="model", kind="list", default=()),
        Setting(name="mapping", kind="list", default=()),
        Setting(name="catalogue", kind="many", default=()),
        Setting(name="profile"),
        Setting(name="suite"),
        Setting(name="case", kind="list", default=()),
        Setting(name="cases", kind="many", default=()),
        Setting(name="external"),
        Setting(name="external-data"),
        Setting(name="external-limit", read=whole(1)),
        Setting(name="external-offset", read=whole(0), default=0),
        Setting(name="external-mode"),
        Setting(name="external-unsupported", read=one_of("skip", "error"), default="error"),
        Setting(name="runs", read=whole(1)),
        Setting(name="warmup", read=whole(0)),
        Setting(name="budget", read=limit_ms, default=DEFAULT_BUDGET_MS),
        Setting(name="seed", read=whole(0), default=1),
        Setting(name="reference"),
        Setting(name="url"),
        Setting(name="preset", read=one_of(*PRESETS)),
        Setting(name="api-key-env", read=variable),
        _switch("key", default=True, places=_FLAG_ONLY),
        Setting(name="key-header", read=header_name),
        Setting(name="reasoning-effort"),
        Setting(name="max-tokens", read=whole(1)),
        Setting(name="temperature", read=amount),
        Setting(name="timeout", read=positive_duration_ms, default=60_000.0),
        _switch("responses", default=True),
        _switch("allow-cache"),
        _switch("allow-fallback"),
        _switch("include-deactivated"),
        _switch("quiet"),
        _switch("overlap"),
        Setting(name="parallel-groups", read=whole(1), default=1),
        Setting(name="concurrency", read=concurrency_levels),
        Setting(name="requests", read=whole(1)),
        Setting(name="duration", read=positive_duration_ms),
        Setting(name="rate", read=rate_levels),
        Setting(name="arrival", read=read_gaps),
        Setting(name="sweep", read=sweep_range),
        Setting(name="trace"),
        Setting(name="trace-speed", read=read_speed),
        Setting(name="turns", read=whole(1), default=1),
        _switch("lock-step"),
        Setting(name="slo", read=read_slo, kind="many", default=()),
        Setting(name="stop-on", read=read_stop_rule, kind="many", default=()),
        Setting(name="spread", read=positive_duration_ms),
        Setting(name="header", read=header, kind="many", default=(), secret=True),
        Setting(name="header-env", read=header_variable, kind="many", default=()),
        Setting(name="cacert"),
        Setting(name="body"),
        Setting(name="api", read=one_of("chat", "messages", "responses"), default="chat"),
        _switch("stream", default=True),
        Setting(name="dialect", read=one_of("auto", *DIALECTS), default="auto"),
        Setting(name="max-cost", read=dollars),
        Setting(name="assume-price", read=price_pair),
        _switch("price-library", default=True),
        _switch("allow-unknown-cost", places=_NOT_IN_FILES),
        _switch("allow-reduced-sandbox", places=_NOT_IN_FILES),
        _switch("archive", default=True),
        _switch("tag", default=True),
        _switch("require-complete"),
        Setting(name="output-dir"),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The resolved settings of a measuring command; names and order as in ``SETTINGS``."""

    model: tuple[str, ...]
    mapping: tuple[str, ...]
    catalogue: tuple[str, ...]
    """Files and package folders, as typed."""
    profile: str | None
    suite: str | None
    case: tuple[str, ...]
    cases: tuple[str, ...]
    """The user's own: folders, files, `module:function`."""
    external: str | None
    """Name of an external suite."""
    external_data: str | None
    """Path or address of its data."""
    external_limit: int | None
    external_offset: int
    external_mode: str | None
    """``None`` = the suite's own first one."""
    external_unsupported: Literal["skip", "error"]
    runs: int | None
    warmup: int | None
    budget: float | None
    """Milliseconds per target; ``None`` = no limit."""
    seed: int
    reference: str | None
    url: str | None
    preset: str | None
    api_key_env: str | None
    key: bool
    """False: no key is sent."""
    key_header: str | None
    """Header that carries the key; ``None`` = as the protocol has it at this host."""
    reasoning_effort: str | None
    max_tokens: int | None
    temperature: float | None
    timeout: float
    """Milliseconds per request."""
    responses: bool
    """Answers are kept in the result."""
    allow_cache: bool
    allow_fallback: bool
    include_deactivated: bool
    quiet: bool
    overlap: bool
    parallel_groups: int
    concurrency: Levels | None
    """Requests in flight; ``None`` = as the case has it."""
    requests: int | None
    """Of each load stage."""
    duration: float | None
    """Milliseconds of each load stage."""
    rate: Levels | None
    """Requests per second."""
    arrival: Gaps | None
    sweep: SweepRange | None
    trace: str | None
    """File of recorded arrivals."""
    trace_speed: float | None
    turns: int
    lock_step: bool
    slo: tuple[Slo, ...]
    stop_on: tuple[StopRule, ...]
    spread: float | None
    """Milliseconds over which the blocks of a plan are begun."""
    header: tuple[tuple[str, str], ...]
    header_env: tuple[tuple[str, str], ...]
    """Header name and the variable that holds its value."""
    cacert: str | None
    body: str | None
    api: Literal["chat", "messages", "responses"]
    stream: bool
    dialect: str
    max_cost: float | None
    """US dollars."""
    assume_price: tuple[float, float] | None
    """US dollars per million tokens in and out."""
    price_library: bool
    """The installed price library is asked where the gateway lists no price."""
    allow_unknown_cost: bool
    allow_reduced_sandbox: bool
    """Run the code of agentic trials also where the sandbox holds less than it should."""
    archive: bool
    tag: bool
    require_complete: bool
    output_dir: str | None


def read_value(setting: Setting, raw: object) -> object:
    """Return the value of ``raw``: text, or what a toml file holds.

    Raises:
        ValueError: With what is needed, when it can't be read.
    """
    if setting.kind in {"many", "list"}:
        entries = [_text(entry) for entry in (raw if isinstance(raw, list | tuple) else [raw])]
        if setting.kind == "list":
            return split_lists(entries)
        return tuple(setting.read(entry) for entry in entries)
    return setting.read(_text(raw))


def _text(raw: object) -> str:
    """Return a scalar as the text that would be typed for it."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, str | int | float):
        return str(raw)
    raise ValueError("a plain value is needed, not a table or a list")
