"""One execution of a case against a target: what was seen, what it is worth."""

from typing import Any, Literal

from bench.model.agent import AgentRun
from bench.model.record import Record

ChunkKind = Literal["content", "reasoning", "tool"]
Connection = Literal["cold", "warm"]
Outcome = Literal["completed", "failed", "cancelled"]


class ToolCall(Record, frozen=True, kw_only=True):
    """One assembled tool call. ``arguments`` is the text as streamed, which may not be JSON."""

    id: str | None = None
    name: str
    arguments: str


class Answer(Record, frozen=True, kw_only=True):
    """What a model answered, without how it travelled: all that an evaluator may see."""

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    opaque: tuple[dict[str, Any], ...] = ()
    """Parts that only their provider understands; see ``bench.model.case.Message``."""
    finish_reason: str | None = None


class Usage(Record, frozen=True, kw_only=True):
    """Token counts as the gateway reports them, normalised; ``raw`` as it came."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    visible_completion_tokens: int | None = None
    """Completion minus reasoning, never negative; ``None`` without completion tokens, or where there
    was reasoning that the provider does not count."""
    cached_prompt_tokens: int | None = None
    """Part of ``prompt_tokens`` that the provider read from its prompt cache."""
    cache_write_tokens: int | None = None
    """Part of ``prompt_tokens`` that it wrote into that cache."""
    cache_write_1h_tokens: int | None = None
    """Part of ``cache_write_tokens`` that stays for an hour and not for minutes."""
    cost_usd: float | None = None
    """What the gateway itself says this answer cost."""
    raw: dict[str, Any] = {}


class StreamChunk(Record, frozen=True, kw_only=True):
    """One delta. Milliseconds since t0; deltas of one network read share ``at_ms`` and ``read``."""

    at_ms: float
    characters: int
    kind: ChunkKind
    read: int
    """Index of the network read that carried the delta, from 0."""


class Timing(Record, frozen=True, kw_only=True):
    """Milliseconds since t0 (the request is handed to the client); formulas in docs/metrics.md."""

    dns_ms: float | None = None
    connect_ms: float | None = None
    """TCP connect, a duration; ``None`` on a warm connection. Through a proxy: to the proxy."""
    proxy_ms: float | None = None
    """Until the proxy had connected on, a duration; ``None`` without one, or where it only forwards
    (plain http)."""
    tls_ms: float | None = None
    sent_ms: float | None = None
    """The last byte of the request was written to the socket."""
    headers_ms: float | None = None
    first_event_ms: float | None = None
    first_reasoning_ms: float | None = None
    first_content_ms: float | None = None
    """TTFT."""
    first_tool_call_ms: float | None = None
    first_token_ms: float | None = None
    last_token_ms: float | None = None
    last_content_ms: float | None = None
    total_ms: float | None = None
    """Last byte of the body; at a failure, the last thing that happened."""
    generation_ms: float | None = None
    visible_tokens_per_second: float | None = None
    content_chunk_count: int = 0
    average_content_chunk_characters: float | None = None
    max_content_stall_ms: float | None = None
    final_content_burst_ratio: float | None = None
    buffered: bool | None = None
    held_back: bool | None = None
    coalesced_share: float | None = None
    itl_ms: tuple[float, ...] | None = None
    """Gaps between consecutive token chunks, in order; ``None`` without two chunks."""
    content_itl_ms: tuple[float, ...] | None = None
    tpot_ms: float | None = None
    visible_tpot_ms: float | None = None
    client_lag_ms: float | None = None
    """Largest lag of this client's event loop while the request ran."""
    stamped_by: Literal["kernel", "loop"] | None = None
    """Who stamped the reads: the kernel on arrival, or this process when it came to read them."""
    body_not_ended: bool = False
    """The body went on for a second after ``[DONE]`` and was closed by us."""


NEVER_REACHED = frozenset(
    {"connect_refused", "connect_failed", "connect_timeout", "dns_error", "tls_error"}
)
"""Codes of requests that failed before a connection stood."""


class ResponseError(Record, frozen=True, kw_only=True):
    """Why an attempt failed. ``code`` as in docs/errors.md; ``seed_code`` is the version-2 word."""

    code: str
    seed_code: str
    message: str
    status: int | None = None
    retry_after_ms: float | None = None


class Refusal(Record, frozen=True, kw_only=True):
    """A request that was to be sent again: refused by HTTP 429 (`--retry-429`), or by this machine.

    The latter's error is ``client_limit``: it was not sent, and is no attempt of the endpoint's.
    """

    attempt: int
    error: ResponseError
    started_offset_ms: float
    finished_offset_ms: float
    wait_ms: float
    """Until the next attempt: what the server asked for, else 1 s, 2 s, 4 s ... 30 s."""
    spent_usd: float | None = None
    """What it counts for in spend: a refused request costs nothing unless the gateway says so."""


class Response(Record, frozen=True, kw_only=True):
    """One answer as it arrived."""

    status: int | None = None
    texts_kept: bool = True
    """False: texts and tool calls were left out (a load stage, `--no-responses`). They are empty
    here, which version-2 readers expect, and not in the answer."""
    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    opaque: tuple[dict[str, Any], ...] = ()
    """Parts that only their provider understands; see ``bench.model.case.Message``."""
    finish_reason: str | None = None
    """In the words of chat completions: ``stop``, ``length``, ``tool_calls``, ``content_filter``."""
    provider_finish_reason: str | None = None
    """As it came, where the protocol has other words; ``None`` = the same."""
    response_model: str | None = None
    request_id: str | None = None
    generation_id: str | None = None
    """What the answer calls itself (``id`` of its body): the name a provider's bill has for it."""
    created_s: float | None = None
    """When the answer says it was made, unix seconds of whoever made it."""
    system_fingerprint: str | None = None
    usage: Usage | None = None
    stream_chunks: tuple[StreamChunk, ...] = ()
    body_bytes: int | None = None
    """Of the answer's body, framing and compression undone; ``None`` = no body came."""
    timing: Timing = Timing()
    error: ResponseError | None = None
    connection: Connection | None = None
    """``None`` when no connection was made."""
    http_version: Literal["1.1", "2"] | None = None
    """That was spoken; ``None`` when no connection was made."""
    local_port: int | None = None
    """This end of the connection: lets the watcher prove who answered."""
    served_provider: str | None = None
    served_region: str | None = None
    served_model: str | None = None
    gateway_cost_usd: float | None = None
    gateway_overhead_ms: float | None = None
    """What the gateway claims to have added."""
    cache_hit: bool | None = None
    replay_of: str | None = None
    """Trial whose answer this is once more, id and moment of creation included: it came out of a
    cache, whatever the gateway says."""
    fallback: bool | None = None
    simulated: bool = False

    def answer(self) -> Answer:
        """Return the part of the response that an evaluator may see."""
        return Answer(
            content=self.content,
            reasoning=self.reasoning,
            tool_calls=self.tool_calls,
            opaque=self.opaque,
            finish_reason=self.finish_reason,
        )


class Evaluation(Record, frozen=True, kw_only=True):
    """What an evaluator says. ``passed`` is ``None`` where there is nothing to judge."""

    passed: bool | None
    answer: str | None = None
    expected: str | None = None
    detail: str | None = None
    confidence: float | None = None
    score: float | None = None
    metrics: dict[str, Any] = {}


class Trial(Record, frozen=True, kw_only=True):
    """One execution of a case against a target."""

    id: str
    target_id: str
    case_id: str
    run: int
    """From 1; warm-ups are counted apart, also from 1."""
    warmup: bool = False
    seed: int
    parameters: dict[str, Any] = {}
    """What was sent besides the messages (max_tokens, temperature, ...)."""
    prompt_hash: str | None = None
    """SHA-256 as in ``bench.prompt.prompt_hash``."""
    started_offset_ms: float
    """Since the run's first record, on the monotonic clock; a resumed run goes on from its end."""
    finished_offset_ms: float
    sent_at_ns: int | None = None
    """t0 as a reading of this machine's monotonic clock (CLOCK_MONOTONIC on Linux)."""
    outcome: Outcome
    response: Response
    evaluation: Evaluation | None = None
    estimated_cost_usd: float | None = None
    cost_source: str | None = None
    """``gateway`` (it said so), ``gateway-list``, ``catalogue``, ``assumed``, ``genai-prices``;
    ``None`` = cost unknown."""
    computed_cost_usd: float | None = None
    """Token counts at known prices, also where the gateway reported a cost."""
    pin_violated: bool | None = None
    stage: int | None = None
    """Number of its load stage; such a trial keeps neither text nor chunks, but every gap."""
    planned_offset_ms: float | None = None
    """When it was due; ``None`` where nothing but the answer before it said so."""
    conversation_turn: int | None = None
    """From 1, in conversations whose history grows."""
    invalidated: str | None = None
    """Class of the incident, or ``cancelled``, that makes the trial count nowhere; of an agentic
    trial that was cut between two turns, why (``budget``, ``max_cost``, ``interrupted``)."""
    refusals: tuple[Refusal, ...] = ()
    """Earlier attempts at the same request, in order. Reliability counts the first of them, all
    other figures the answer. Of an agentic trial those of all its turns."""
    agent: AgentRun | None = None
    """Of agentic trials. ``response`` then has the last turn's answer, the tokens of all turns, the
    first turn's times up to its first token, and the whole wall clock as ``total_ms``."""

    @property
    def violation(self) -> str | None:
        """What makes the answer say nothing about the pinned target, the first of it."""
        if self.pin_violated:
            return "pinViolated"
        if self.response.fallback:
            return "fallback"
        return "cacheHit" if self.response.cache_hit else None

    @property
    def is_valid(self) -> bool:
        """No error and no failed evaluation."""
        failed = self.evaluation is not None and self.evaluation.passed is False
        return self.response.error is None and not failed
