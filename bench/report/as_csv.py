"""Every trial's timing and usage as one row, warm-ups and set-aside trials included.

The first columns are those of the seed system in its order; ours follow. Text can't become a
formula: see ``bench.report.escaping.csv_cell``.
"""

from collections.abc import Callable
from math import isfinite

from bench.model.document import Document, DocumentTrial
from bench.report.escaping import csv_cell
from bench.stats import finite, percentile

_Read = Callable[[DocumentTrial], object]


def timings_csv(document: Document) -> str:
    """Return the table with a header line; lines end with LF, text is UTF-8 without a mark."""
    lines, reads = [",".join(_COLUMNS)], tuple(_COLUMNS.values())
    for trial in document.trials:
        values = [read(trial) for read in reads]
        # Most cells are empty: no call for those.
        lines.append(",".join(["" if value is None else csv_cell(value) for value in values]))
    return "\n".join(lines) + "\n"


def _median_gap(trial: DocumentTrial) -> float | None:
    gaps = trial.response.timing.itl_ms or ()
    ordered = sorted(gaps) if isfinite(sum(gaps)) else finite(gaps)
    return percentile(ordered, 0.5) if ordered else None


def _largest_gap(trial: DocumentTrial) -> float | None:
    gaps = trial.response.timing.itl_ms
    return max(gaps) if gaps and isfinite(sum(gaps)) else max(finite(gaps or ()), default=None)


_COLUMNS: dict[str, _Read] = {
    "targetId": lambda t: t.target_id,
    "caseId": lambda t: t.case_id,
    "run": lambda t: t.run,
    "warmup": lambda t: t.warmup,
    "evaluationPassed": lambda t: t.evaluation.passed if t.evaluation else None,
    "responseError": lambda t: t.response.error.message if t.response.error else None,
    "finishReason": lambda t: t.response.finish_reason,
    "promptTokens": lambda t: t.response.usage.prompt_tokens,
    "completionTokens": lambda t: t.response.usage.completion_tokens,
    "reasoningTokens": lambda t: t.response.usage.reasoning_tokens,
    "estimatedCostUsd": lambda t: t.estimated_cost_usd,
    "headersMs": lambda t: t.response.timing.headers_ms,
    "firstEventMs": lambda t: t.response.timing.first_event_ms,
    "firstReasoningMs": lambda t: t.response.timing.first_reasoning_ms,
    "firstContentMs": lambda t: t.response.timing.first_content_ms,
    "generationMs": lambda t: t.response.timing.generation_ms,
    "totalMs": lambda t: t.response.timing.total_ms,
    "visibleTokensPerSecond": lambda t: t.response.timing.visible_tokens_per_second,
    "maxContentStallMs": lambda t: t.response.timing.max_content_stall_ms,
    "averageContentChunkCharacters": lambda t: t.response.timing.average_content_chunk_characters,
    "finalContentBurstRatio": lambda t: t.response.timing.final_content_burst_ratio,
    "buffered": lambda t: t.response.timing.buffered,
    "contentChunkCount": lambda t: t.response.timing.content_chunk_count,
    "trialId": lambda t: t.id,
    "kind": lambda t: t.kind,
    "seed": lambda t: t.seed,
    "outcome": lambda t: t.outcome,
    "invalidated": lambda t: t.invalidated,
    "simulated": lambda t: t.response.simulated,
    "errorCode": lambda t: t.response.error.code if t.response.error else None,
    "status": lambda t: t.response.status,
    "connection": lambda t: t.response.connection,
    "startedOffsetMs": lambda t: t.started_offset_ms,
    "finishedOffsetMs": lambda t: t.finished_offset_ms,
    "dnsMs": lambda t: t.response.timing.dns_ms,
    "connectMs": lambda t: t.response.timing.connect_ms,
    "tlsMs": lambda t: t.response.timing.tls_ms,
    "sentMs": lambda t: t.response.timing.sent_ms,
    "firstTokenMs": lambda t: t.response.timing.first_token_ms,
    "firstToolCallMs": lambda t: t.response.timing.first_tool_call_ms,
    "lastTokenMs": lambda t: t.response.timing.last_token_ms,
    "lastContentMs": lambda t: t.response.timing.last_content_ms,
    "itlP50Ms": _median_gap,
    "itlMaxMs": _largest_gap,
    "tpotMs": lambda t: t.response.timing.tpot_ms,
    "visibleTpotMs": lambda t: t.response.timing.visible_tpot_ms,
    "heldBack": lambda t: t.response.timing.held_back,
    "coalescedShare": lambda t: t.response.timing.coalesced_share,
    "clientLagMs": lambda t: t.response.timing.client_lag_ms,
    "bodyNotEnded": lambda t: t.response.timing.body_not_ended,
    "cachedPromptTokens": lambda t: t.response.usage.cached_prompt_tokens,
    "visibleCompletionTokens": lambda t: t.response.usage.visible_completion_tokens,
    "costSource": lambda t: t.cost_source,
    "gatewayCostUsd": lambda t: t.response.gateway_cost_usd,
    "gatewayOverheadMs": lambda t: t.response.gateway_overhead_ms,
    "responseModel": lambda t: t.response.response_model,
    "servedProvider": lambda t: t.response.served_provider,
    "servedModel": lambda t: t.response.served_model,
    "pinViolated": lambda t: t.pin_violated,
    "fallback": lambda t: t.response.fallback,
    "cacheHit": lambda t: t.response.cache_hit,
    "requestId": lambda t: t.response.request_id,
    "promptHash": lambda t: t.prompt_hash,
    "generationId": lambda t: t.response.generation_id,
    "cacheWriteTokens": lambda t: t.response.usage.cache_write_tokens,
    "computedCostUsd": lambda t: t.computed_cost_usd,
    "httpVersion": lambda t: t.response.http_version,
    "proxyMs": lambda t: t.response.timing.proxy_ms,
    "sentAgain": lambda t: len(t.refusals),
}
