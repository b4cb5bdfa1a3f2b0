"""What a response proves besides its content: who answered, and whose fault an error is."""

import msgspec

from bench.dialects import same_model, same_provider, same_region
from bench.model.surroundings import Incident
from bench.model.target import Target
from bench.model.trial import Response, ResponseError

_CODES = {
    "gateway_killed": "gateway_died",
    "gateway_oom": "gateway_died",
    "gateway_stopped": "gateway_died",
    "gateway_crash": "gateway_died",
    "port_taken": "gateway_replaced",
    "gateway_suspended": "gateway_suspended",
    "gateway_draining_or_hung": "gateway_not_listening",
    "client_killed": "client_killed",
}
"""Class of an incident → error code of the trials it touched."""

SEED_ABORT = "AbortError"


def pin_violated(target: Target, response: Response) -> bool | None:
    """Say whether somebody else than the pinned mapping answered; ``None`` = the answer doesn't tell.

    A dated name of the same model (``m`` → ``m-2026-01-01``) is no violation, ``m-mini`` is one.
    """
    known = [
        verdict
        for verdict in (
            _other_provider(target, response),
            _other_region(target, response),
            _other_model(target, response),
        )
        if verdict is not None
    ]
    return any(known) if known else None


def _other_provider(target: Target, response: Response) -> bool | None:
    if target.mapping is None or response.served_provider is None:
        return None
    return not same_provider(target.mapping, response.served_provider)


def _other_region(target: Target, response: Response) -> bool | None:
    region = (target.mapping or "").partition(":")[2]
    if not region or response.served_region is None:
        return None
    return not same_region(region, response.served_region)


def _other_model(target: Target, response: Response) -> bool | None:
    served = response.served_model
    if served is None:
        return None
    names = (target.model, target.model_id, target.metadata.upstream_model)
    return not any(same_model(name, served) for name in names if name)


MOST_REMEMBERED = 50_000
"""Answers that a later one is held against: more would fill the memory of a long run under load."""


class Replays:
    """Notices answers that come again: same id, same moment of creation, same text, same prompt.

    A server that gives every answer the same id is no evidence: there, other prompts have it too.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, float], tuple[str | None, int, str]] = {}
        self._constant: set[tuple[str, float]] = set()

    def marked(self, response: Response, *, prompt_hash: str | None, trial_id: str) -> Response:
        """Return the response, as a cache hit where an earlier trial got this very answer."""
        if not response.generation_id or response.created_s is None or response.error is not None:
            return response
        key = (response.generation_id, response.created_s)
        text = hash((response.content, response.reasoning, response.tool_calls))
        if len(self._seen) >= MOST_REMEMBERED:
            oldest = next(iter(self._seen))
            del self._seen[oldest]
            self._constant.discard(oldest)
        prompt, earlier_text, earlier = self._seen.setdefault(key, (prompt_hash, text, trial_id))
        if prompt != prompt_hash:
            self._constant.add(key)
        if earlier == trial_id or key in self._constant or earlier_text != text:
            return response
        return msgspec.structs.replace(response, cache_hit=True, replay_of=earlier)


def explained(response: Response, incident: Incident) -> ResponseError:
    """Return the error of a response that an incident touched.

    The version-2 word of the failure stays: readers of those documents know no incidents.
    """
    error = response.error
    code = _CODES.get(incident.incident_class) or (error.code if error else "cancelled")
    seen = f"; the client saw: {error.message}" if error else ""
    return ResponseError(
        code=code,
        seed_code=error.seed_code if error else SEED_ABORT,
        message=f"{incident.summary}{seen}",
        status=error.status if error else None,
        retry_after_ms=error.retry_after_ms if error else None,
    )


def cancelled(incident: Incident | None) -> Response:
    """Return the response of a request that was cancelled on its way."""
    if incident is not None:
        return Response(error=explained(Response(), incident))
    message = "cancelled by the user while in flight"
    return Response(error=ResponseError(code="cancelled", seed_code=SEED_ABORT, message=message))
