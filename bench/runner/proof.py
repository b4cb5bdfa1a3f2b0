"""What a response proves besides its content: who answered, and whose fault an error is."""

from bench.model.run import Incident
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

    A dated name of the same model (``m`` → ``m-2026-01-01``) is no violation.
    """
    provider = None
    if target.mapping is not None and response.served_provider is not None:
        pinned = target.mapping.partition(":")[0]
        provider = _plain(response.served_provider.partition(":")[0]) != _plain(pinned)
    model = None
    if response.served_model is not None:
        served = _model_name(response.served_model)
        asked = (_model_name(target.model), _model_name(target.model_id))
        model = not any(served.startswith(name) or name.startswith(served) for name in asked)
    known = [verdict for verdict in (provider, model) if verdict is not None]
    return any(known) if known else None


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


def _model_name(model: str) -> str:
    return _plain(model.rpartition("/")[2].partition(":")[0])


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")
