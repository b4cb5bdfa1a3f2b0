"""Two arms measured in turn: how the pairs lie in the plan, and what their comparison came to.

The *base* arm is what is held against (a gateway's upstream, build A), the *changed* arm is what
is asked about. A *block* is one load stage of one arm; a *pair* is two blocks, one after the other.
"""

from typing import Literal

from bench.model.record import Record

Side = Literal["base", "changed"]
PairPhase = Literal["noise", "warm", "cold"]
"""``noise``: both blocks of a pair go to the base arm, so that they differ by chance only."""
OF_ONE_ENDPOINT = (
    *("rate", "sweep", "trace", "duration", "arrival", "spread", "runs", "profile", "suite"),
    *("external", "reference", "retry_429", "slo", "stop_on"),
)
"""Settings that shape a run of one endpoint and have no meaning between two."""
PairKind = Literal["overhead", "ab"]
Verdict = Literal["higher", "lower", "within", "undecided"]
"""``within``: the interval holds 0. ``undecided``: nothing may be said; the reason stands beside it."""
Interval = tuple[float, float]


class PairPlace(Record, frozen=True, kw_only=True):
    """Where a block stands among the pairs of its run."""

    phase: PairPhase
    level: int
    """Number of the level of load, from 0."""
    number: int
    """Of the pair in its phase and level, from 1."""
    side: Side
    """In the noise phase drawn too, though both sides ask the base arm."""


class Arm(Record, frozen=True, kw_only=True):
    """One of two endpoints, and how it is asked. No secrets."""

    target_id: str
    label: str
    """In sentences: ``the gateway``, ``its upstream``, ``A``."""
    url: str
    api_key_env: str | None = None
    key_header: str | None = None
    dialect: str = "plain"
    header_names: tuple[str, ...] = ()


class Confound(Record, frozen=True, kw_only=True):
    """A reason, other than the one asked about, why the arms may differ."""

    code: str
    """``other_key``, ``other_model``, ``other_prompt_tokens`` …"""
    text: str
    """A clause with values."""
    spoils: tuple[str, ...] = ()
    """Metrics that are not comparable for it; empty = good to know. ``*`` = all."""


class PairLevel(Record, frozen=True, kw_only=True):
    """One level of load at which the arms are compared."""

    concurrency: int = 1
    requests: int = 1
    """Of each block: 1 at concurrency 1, where a pair is two single requests."""
    pairs: int
    noise_pairs: int = 0
    cold_pairs: int = 0
    """Pairs whose requests open a connection each."""
    warmups: int = 1
    """Requests before the first block of each arm and phase."""
    prompt_bytes: int | None = None
    """Length of the prompt; ``None`` = the case's own."""
    lock_step: bool = False
    """Requests of a block begin all at once, instead of one after another."""


class Pairing(Record, frozen=True, kw_only=True):
    """What makes a run one of two arms in turn; in the journal's configuration."""

    kind: PairKind
    base: Arm
    changed: Arm
    levels: tuple[PairLevel, ...]
    confounds: tuple[Confound, ...] = ()
    """What differs by the settings alone."""
    is_same: bool = False
    """Both arms are known to be the same thing: an A/A run."""

    def arm(self, side: Side) -> Arm:
        """Return the arm of a side."""
        return self.base if side == "base" else self.changed


class NoiseFloor(Record, frozen=True, kw_only=True):
    """What the same measurement shows between the base arm and itself."""

    pairs: int
    difference: float
    """Median of the block differences."""
    interval: Interval | None
    flagged: bool
    """The interval leaves 0 out: something but the arms made a difference."""


class Comparison(Record, frozen=True, kw_only=True):
    """One figure of both arms at one level. Differences are changed minus base; below 0 is right."""

    metric: str
    unit: str
    pairs: int
    """With a value on both sides."""
    base_p50: float | None = None
    """Over all requests of the arm."""
    changed_p50: float | None = None
    p50_difference: float | None = None
    ratio: float | None = None
    """``changed_p50 / base_p50``."""
    ratio_interval: Interval | None = None
    """Of the median of the blocks' ratios."""
    difference: float | None = None
    """Median of the block differences: the figure to read."""
    interval: Interval | None = None
    """95 %, of ``difference``, by resampling blocks; ``None`` below 6 pairs."""
    noise: NoiseFloor | None = None
    smallest_detectable: float | None = None
    """Difference that so many pairs of such spread show in 4 of 5 runs; ``None`` below 6 pairs."""
    pairs_to_decide: int | None = None
    """Pairs that would tell ``difference`` from 0; ``None`` = decided, or no difference was seen."""
    verdict: Verdict = "undecided"
    why: str = ""
    """Of an undecided one."""


class LevelResult(Record, frozen=True, kw_only=True):
    """Both arms at one level of load."""

    level: int
    label: str
    """``1 at a time``, ``8 at once, 16 KB``."""
    concurrency: int
    prompt_bytes: int | None = None
    """``None`` = the case's own."""
    requests: int
    """Of both arms, measured."""
    failed_base: int
    failed_changed: int
    dropped_pairs: int = 0
    """Torn by an interruption, or with a block in which nothing succeeded."""
    client_bound: tuple[str, ...] = ()
    """Why this client may be what was measured, and in which figures."""
    client_spoils: tuple[str, ...] = ()
    """These figures: their verdicts are undecided."""
    warm: tuple[Comparison, ...] = ()
    cold: tuple[Comparison, ...] = ()


class PairedSummary(Record, frozen=True, kw_only=True):
    """What both arms in turn amount to; what an overhead run adds to it stands in a field of its own."""

    kind: PairKind
    base: str
    """Label of the arm."""
    changed: str
    base_target: str
    changed_target: str
    is_same: bool = False
    headline: str
    """One sentence."""
    confounds: tuple[Confound, ...] = ()
    levels: tuple[LevelResult, ...] = ()
