"""Every measuring setting: its name, how its text is read, its default. Pure.

A setting has one name in four places: `--parallel-groups`, `parallel-groups` in a toml file,
`BENCHMARK_PARALLEL_GROUPS` in the environment and in a `.env`. Text is read here only, so that
each place takes the same words and gives the same fault.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bench.dialects import DIALECTS
from bench.load.gates import Gate, read_gate
from bench.load.levels import (
    Levels,
    PromptSizes,
    SweepRange,
    concurrency_levels,
    prompt_sizes,
    rate_levels,
    sweep_range,
)
from bench.load.machines import ray_address, read_cpus
from bench.load.rules import Gaps, StopRule, read_gaps, read_speed, read_stop_rule
from bench.load.slo import Slo, read_slo
from bench.mappings import split_lists
from bench.presets import PRESETS
from bench.proxies import typed_proxy
from bench.setting_readers import (
    Read,
    amount,
    dollars,
    flag,
    header,
    header_name,
    header_variable,
    limit_ms,
    one_of,
    positive_duration_ms,
    price_pair,
    variable,
    whole,
    words,
)

DEFAULT_BUDGET_MS = 120_000.0
"""Of the commands; profiles that need more name their own."""
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
MOST_RUNS = 100_000
"""Of a case, of pairs: each is planned, and kept, one by one."""
MOST_TURNS = 1_000
"""Each turn carries all before it."""
MOST_SEED = 2**53 - 1
"""The last whole number that every reader of JSON keeps."""
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
        Setting(name="runs", read=whole(1, MOST_RUNS)),
        Setting(name="warmup", read=whole(0, MOST_RUNS)),
        Setting(name="budget", read=limit_ms, default=DEFAULT_BUDGET_MS),
        Setting(name="seed", read=whole(0, MOST_SEED), default=1),
        Setting(name="reference"),
        Setting(name="url"),
        Setting(name="preset", read=one_of(*PRESETS)),
        Setting(name="api-key-env", read=variable),
        _switch("key", default=True, places=_FLAG_ONLY),
        Setting(name="key-header", read=header_name),
        Setting(name="reasoning-effort"),
        Setting(name="max-tokens", read=whole(1)),
        Setting(name="max-turns", read=whole(1, MOST_TURNS)),
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
        Setting(name="turns", read=whole(1, MOST_TURNS), default=1),
        _switch("lock-step"),
        Setting(name="slo", read=read_slo, kind="many", default=()),
        Setting(name="stop-on", read=read_stop_rule, kind="many", default=()),
        Setting(name="spread", read=positive_duration_ms),
        Setting(name="workers", read=whole(1), default=1),
        Setting(name="engine", read=one_of("local", "ray"), default="local"),
        Setting(name="ray-address", read=ray_address, places=_FLAG_ONLY),
        Setting(name="ray-cpus", read=read_cpus, default=1.0),
        Setting(name="header", read=header, kind="many", default=(), secret=True),
        Setting(name="header-env", read=header_variable, kind="many", default=()),
        Setting(name="cacert"),
        Setting(name="body"),
        Setting(name="http-version", read=one_of("1.1", "2", "auto"), default="1.1"),
        Setting(name="proxy", read=typed_proxy, secret=True, places=_FLAG_ONLY),
        Setting(name="retry-429", read=whole(0), default=0),
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
        Setting(name="baseline-url"),
        Setting(name="baseline-model"),
        Setting(name="baseline-api-key-env", read=variable),
        Setting(name="baseline-key-header", read=header_name),
        Setting(name="baseline-header", read=header, kind="many", default=(), secret=True),
        Setting(name="baseline-header-env", read=header_variable, kind="many", default=()),
        Setting(name="baseline-dialect", read=one_of(*DIALECTS), default="plain"),
        Setting(name="pairs", read=whole(1, MOST_RUNS)),
        Setting(name="noise-pairs", read=whole(0, MOST_RUNS)),
        Setting(name="cold-pairs", read=whole(0, MOST_RUNS)),
        Setting(name="prompt-bytes", read=prompt_sizes),
        Setting(name="fail-on", read=read_gate, kind="many", default=()),
        _switch("strict"),
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
    max_turns: int | None
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
    workers: int
    """Processes that send the load."""
    engine: str
    """Where they run: on this machine, or on a Ray cluster."""
    ray_address: str | None
    """Of the cluster; ``None`` = one of our own, here, for the time of the run."""
    ray_cpus: float
    """That each load process asks of the cluster."""
    header: tuple[tuple[str, str], ...]
    header_env: tuple[tuple[str, str], ...]
    """Header name and the variable that holds its value."""
    cacert: str | None
    body: str | None
    http_version: Literal["1.1", "2", "auto"]
    proxy: str | None
    """`none` = no proxy, whatever the environment says."""
    retry_429: int
    """How often a request that HTTP 429 refused is sent again."""
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
    baseline_url: str | None
    """What a gateway's own time is held against: its upstream."""
    baseline_model: str | None
    """As the upstream names it; ``None`` = as the gateway does."""
    baseline_api_key_env: str | None
    """``None`` = no key is sent there."""
    baseline_key_header: str | None
    baseline_header: tuple[tuple[str, str], ...]
    baseline_header_env: tuple[tuple[str, str], ...]
    baseline_dialect: str
    pairs: int | None
    """Of blocks, at each level; ``None`` = by the concurrency."""
    noise_pairs: int | None
    """Pairs in which the baseline is held against itself."""
    cold_pairs: int | None
    """Pairs whose requests open a connection each."""
    prompt_bytes: PromptSizes | None
    """Lengths of prompts, each a level of its own; ``None`` = the case's prompt."""
    fail_on: tuple[Gate, ...]
    """Limits over the run, or on the difference of two sides."""
    strict: bool
    """An undecided gate is told by the exit code."""


def read_value(setting: Setting, raw: object) -> object:
    """Return the value of ``raw``: text, or what a toml file holds.

    Raises:
        ValueError: With what is needed, when it can't be read.
    """
    if setting.kind in {"many", "list"}:
        entries = [_text(entry) for entry in (raw if isinstance(raw, list | tuple) else [raw])]
        if setting.kind == "list":
            return split_lists(entries)
        return _each(setting, entries)
    return setting.read(_text(raw))


def _each(setting: Setting, entries: Sequence[str]) -> tuple[object, ...]:
    """Return the value of each entry.

    Raises:
        ValueError: What is needed, for every entry that can't be read.
    """
    values, faults = [], []
    for entry in entries:
        try:
            values.append(setting.read(entry))
        except ValueError as error:
            is_named = len(entries) > 1 and not setting.secret
            faults.append(f"`{entry}`: {error}" if is_named else str(error))
    if faults:
        raise ValueError("; ".join(dict.fromkeys(faults)))
    return tuple(values)


def _text(raw: object) -> str:
    """Return a scalar as the text that would be typed for it."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, str | int | float):
        return str(raw)
    raise ValueError("a plain value is needed, not a table or a list")
