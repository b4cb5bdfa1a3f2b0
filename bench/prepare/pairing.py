"""Two endpoints in turn: which levels, which two targets, and what goes to the one held against."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from bench.client.endpoint import Endpoint
from bench.config import Config
from bench.endpoint import resolve
from bench.errors import KeyRejected, UsageFault
from bench.job_messages import Hello
from bench.keys import Origin
from bench.model.case import Case
from bench.model.paired import OF_ONE_ENDPOINT, Arm, Pairing, PairKind, PairLevel
from bench.model.record import Value
from bench.model.run_config import RunConfig
from bench.model.target import Target
from bench.paired.comparability import setting_confounds
from bench.prepare.access import Access, find_base_access, make_endpoint
from bench.prepare.consent import free_because
from bench.prepare.load import DEFAULT_CASE
from bench.prepare.offering import ask_gateway
from bench.prepare.selection import Selection

MAX_TOKENS = 128
"""Where nobody named a limit: enough chunks for a buffer of 16 KB to show."""
_SINGLE_PAIRS, _BLOCK_PAIRS = 100, 12
_COLD_PAIRS = 20
_FEWEST_NOISE = 6
_FEWEST_REQUESTS, _WAVES = 20, 4
_MOST_WARMUPS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What a comparison calls its arms."""

    kind: PairKind
    base: str
    changed: str
    base_suffix: str
    """Of the target id; the ids of both arms differ by it alone."""
    changed_suffix: str
    is_same: bool | None = None
    """Both arms are known to be the same; ``None`` = as their addresses say."""

    def known_to(self, hello: Hello | None) -> "Labels":
        """Return what the job around two gateways calls them, and whether they are the same."""
        if hello is None or not hello.gateways:
            return self
        base = hello.labels.get("base", self.base)
        changed = hello.labels.get("changed", self.changed)
        return replace(self, base=base, changed=changed, is_same=hello.is_same)


OVERHEAD = Labels(
    kind="overhead",
    base="the upstream",
    changed="the gateway",
    base_suffix="@direct",
    changed_suffix="@gateway",
)


AB = Labels(kind="ab", base="a", changed="b", base_suffix="@a", changed_suffix="@b")


class BaseArm(Value, frozen=True, kw_only=True):
    """The endpoint that is held against, checked."""

    access: Access
    arm: Arm

    def endpoint(self, run: RunConfig, *, body: bytes | None) -> Endpoint:
        """Return how it is asked: as the changed arm, but for address, key, headers and dialect."""
        return make_endpoint(
            msgspec.structs.replace(run, dialect=self.arm.dialect), self.access, body=body
        )


def settled(config: Config) -> Config:
    """Return the settings of a comparison: one stream of a set length where nobody said more.

    Raises:
        UsageFault: Settings that a comparison of two endpoints has no use for.
    """
    _refuse_useless(config)
    settings = config.settings
    origin = Origin.DEFAULT
    for field in ("profile", "suite", "external", "spread", "runs"):
        config = config.with_value(field, None, origin=origin, label="not of a comparison")
    if config.trust["budget"] is origin:
        config = config.with_value("budget", None, origin=origin, label="default of a comparison")
    if settings.body is None:
        if not settings.case and not settings.cases:
            config = config.with_value(
                "case", (DEFAULT_CASE,), origin=origin, label="default of a comparison"
            )
        if settings.max_tokens is None:
            config = config.with_value(
                "max_tokens", MAX_TOKENS, origin=origin, label="default of a comparison"
            )
    return config


def _refuse_useless(config: Config) -> None:
    settings = config.settings
    for field in OF_ONE_ENDPOINT:
        if config.trust[field] is Origin.FLAG:
            message = f"`--{field.replace('_', '-')}` is of a run of one endpoint"
            raise UsageFault(
                message, hint="two are compared with `-c`, `-n`, `--pairs` and `--prompt-bytes`"
            )
    if settings.turns > 1 or (settings.concurrency is not None and settings.concurrency.is_ramp):
        raise UsageFault(
            "conversations and ramps can't be compared in pairs",
            hint="for example `-c 1,8,64`: each level is compared on its own",
        )
    most = max(settings.concurrency.values) if settings.concurrency else 1
    if settings.workers > most:
        message = f"`--workers {settings.workers}` is more than the {int(most)} in flight of `-c`"
        raise UsageFault(message, hint="a process without a request would only stand by")
    if settings.body is not None and settings.prompt_bytes is not None:
        raise UsageFault("`--body` and `--prompt-bytes` exclude each other")


def base_config(config: Config) -> Config:
    """Return the settings with the base arm's address and secrets in place of the other's.

    Nothing of the changed arm's goes along: neither key nor header, and no key that happens to be
    in the environment.

    Raises:
        UsageFault: No address.
    """
    settings = config.settings
    if settings.baseline_url is None:
        raise UsageFault(
            "no upstream to hold the gateway against",
            hint="`--baseline-url URL`, and `--baseline-api-key-env NAME` if it wants a key",
        )
    own = {
        "url": settings.baseline_url,
        "api_key_env": settings.baseline_api_key_env,
        "key_header": settings.baseline_key_header,
        "header": settings.baseline_header,
        "header_env": settings.baseline_header_env,
    }
    for field, value in own.items():
        told = f"baseline_{field}"
        config = config.with_value(
            field, value, origin=config.trust[told], label=config.label(told)
        )
    has_key = settings.baseline_api_key_env is not None
    return config.with_value("key", has_key, origin=Origin.DEFAULT, label="default")


def recorded_base(
    config: Config, pairing: Pairing, *, is_own: bool, trusted_hosts: tuple[str, ...]
) -> BaseArm:
    """Return the base arm of a recorded run, address and key name as recorded unless typed.

    Args:
        config: Of the resuming command.
        pairing: As recorded.
        is_own: The journal is the user's own: its address counts as typed.
        trusted_hosts: That a person named with `--trust-url`.

    Raises:
        UsageFault: A header whose value is not kept was not given again.
    """
    recorded, origin = pairing.base, Origin.FLAG if is_own else Origin.FILE
    for field, value in (
        ("baseline_url", recorded.url),
        ("baseline_api_key_env", recorded.api_key_env),
        ("baseline_key_header", recorded.key_header),
    ):
        if value is not None and getattr(config.settings, field) is None:
            config = config.with_value(field, value, origin=origin, label="the journal")
    access = find_base_access(base_config(config), trusted_hosts=trusted_hosts, resolve=resolve)
    given = {name.lower() for name, _ in access.headers}
    lost = [name for name in recorded.header_names if name.lower() not in given]
    if lost:
        message = f"{recorded.label} was sent headers whose values are not kept: {', '.join(lost)}"
        raise UsageFault(
            message, hint="give them again with `--baseline-header` or `--baseline-header-env`"
        )
    return BaseArm(access=access, arm=recorded)


def levels(config: Config) -> tuple[PairLevel, ...]:
    """Return the levels at which the arms are compared: prompt sizes times concurrencies."""
    settings = config.settings
    sizes = settings.prompt_bytes.values if settings.prompt_bytes else (None,)
    counts = settings.concurrency.values if settings.concurrency else (1.0,)
    return tuple(_level(config, int(count), size) for size in sizes for count in counts)


def _level(config: Config, concurrency: int, size: int | None) -> PairLevel:
    settings = config.settings
    is_single = concurrency == 1
    pairs = settings.pairs or (_SINGLE_PAIRS if is_single else _BLOCK_PAIRS)
    requests = settings.requests
    if requests is None:
        requests = 1 if is_single else max(_FEWEST_REQUESTS, _WAVES * concurrency)
    if requests < concurrency:
        message = f"`-n {requests}` is less than the {concurrency} requests in flight of `-c`"
        raise UsageFault(message, hint=f"`-n {concurrency * _WAVES}` keeps them up for a while")
    noise = settings.noise_pairs
    cold = settings.cold_pairs
    warmups = settings.warmup
    return PairLevel(
        concurrency=concurrency,
        requests=requests,
        pairs=pairs,
        noise_pairs=max(_FEWEST_NOISE, pairs // 3) if noise is None else noise,
        cold_pairs=(min(_COLD_PAIRS, pairs) if is_single else 0) if cold is None else cold,
        warmups=min(2 * concurrency, _MOST_WARMUPS) if warmups is None else warmups,
        prompt_bytes=size,
        lock_step=settings.lock_step,
    )


class Found(Value, frozen=True, kw_only=True):
    """The endpoint that is held against, as it was found."""

    access: Access
    free_because: str | None
    is_simulated: bool


def find_base(config: Config, hello: Hello | None, *, trusted_hosts: tuple[str, ...]) -> Found:
    """Return the checked base arm, and whether it costs anything.

    Args:
        config: Of the comparison.
        hello: Of the job around the gateway, where there is one.
        trusted_hosts: That a person named with `--trust-url`.

    Raises:
        UsageFault: No address, or one that can't be asked.
        KeyRejected: It refused the key.
        Refused: A key would go where it doesn't belong.
    """
    access = find_base_access(base_config(config), trusted_hosts=trusted_hosts, resolve=resolve)
    try:
        listing = ask_gateway(access, dialect=config.settings.baseline_dialect)
    except KeyRejected as fault:
        fault.hint = "check the variable, or name another one with `--baseline-api-key-env`"
        raise
    is_simulated = listing.is_simulator or (hello is not None and hello.simulated_upstream)
    free = free_because(hello, listing, access.address)
    return Found(access=access, free_because=free, is_simulated=is_simulated)


def paired(
    config: Config, selection: Selection, access: Access, found: Found, labels: Labels
) -> tuple[Selection, BaseArm]:
    """Return the selection with both arms as its targets, and the base arm.

    Args:
        config: Settled.
        selection: Of the changed arm.
        access: Of the changed arm.
        found: The base arm.
        labels: What they are called.

    Raises:
        UsageFault: More than one target or case, or an agentic case.
    """
    refuse_several_cases(selection.cases)
    target, base = _one(selection), found.access
    settings = config.settings
    one = _arm(base, target.id + labels.base_suffix, labels.base, settings.baseline_dialect)
    one = msgspec.structs.replace(
        one,
        key_header=settings.baseline_key_header,
        header_names=_names(settings.baseline_header, settings.baseline_header_env),
    )
    other = _arm(access, target.id + labels.changed_suffix, labels.changed, selection.dialect.name)
    other = msgspec.structs.replace(
        other,
        key_header=settings.key_header,
        header_names=_names(settings.header, settings.header_env),
    )
    pairing = Pairing(
        kind=labels.kind,
        base=one,
        changed=other,
        levels=levels(config),
        confounds=setting_confounds(one, other, is_simulated=found.is_simulated),
        is_same=one.url == other.url if labels.is_same is None else labels.is_same,
    )
    targets = (
        _base_target(target, one, labels, model=settings.baseline_model),
        msgspec.structs.replace(
            target, id=other.target_id, display_name=f"{target.display_name}, {labels.changed}"
        ),
    )
    is_paid = found.free_because is None and selection.free_because is None
    selection = replace(selection, targets=targets, pairing=pairing, is_base_paid=is_paid)
    return selection, BaseArm(access=base, arm=one)


def _one(selection: Selection) -> Target:
    if len(selection.targets) != 1:
        names = ", ".join(target.id for target in selection.targets[:4])
        message = f"two endpoints are compared with one model, and these are several: {names}"
        raise UsageFault(message, hint="name one MODEL, and one `--mapping` where it has several")
    return selection.targets[0]


def refuse_several_cases(cases: Sequence[Case]) -> None:
    """See that two endpoints are asked one case, of single requests.

    Raises:
        UsageFault: They are not.
    """
    if len(cases) != 1:
        message = f"two endpoints are compared with one case, and these are {len(cases)}"
        raise UsageFault(message, hint=f"for example `--case {DEFAULT_CASE}`")
    if cases[0].info.kind == "agentic":
        message = f"`{cases[0].info.id}` is a task with tools and can't be compared"
        raise UsageFault(message, hint=f"for example `--case {DEFAULT_CASE}`")


def _arm(access: Access, target_id: str, label: str, dialect: str) -> Arm:
    return Arm(
        target_id=target_id,
        label=label,
        url=access.endpoint.url,
        api_key_env=access.key_variable,
        dialect=dialect,
    )


def _names(*headers: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(name for listed in headers for name, _ in listed)


def _base_target(target: Target, arm: Arm, labels: Labels, *, model: str | None) -> Target:
    """Return the base arm's target: of an upstream the model as it names it, no provider pinned."""
    named = {"id": arm.target_id, "display_name": f"{target.display_name}, {arm.label}"}
    if labels.kind == "ab":
        return msgspec.structs.replace(target, **named, model=model or target.model)
    return msgspec.structs.replace(
        target,
        **named,
        model=model or target.metadata.upstream_model or target.model,
        mapping=None,
    )
