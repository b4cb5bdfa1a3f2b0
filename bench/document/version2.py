"""Reads documents of the seed system (version 2): fills in what that format does not say.

What it lacks stays ``None``, except what follows from the rest: trial ids from target, case and
run; the outcome from the error; the number of runs from the trials.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from bench.charges import Spend
from bench.document.completeness import recorded_only
from bench.document.shape import document_target, document_trial
from bench.document.trust import Circumstances, caveats
from bench.model.case import CaseInfo
from bench.model.document import Document, DocumentConfig, RunSpend
from bench.model.target import Target
from bench.model.trial import Trial
from bench.money import total
from bench.summary import Evidence, summarize

_Raw = Mapping[str, Any]


def upgrade(raw: _Raw) -> Document:
    """Return a version-2 document as one of ours.

    Raises:
        msgspec.ValidationError: A field is missing or of a wrong kind.
    """
    targets = tuple(_target(entry) for entry in _objects(raw, "targets"))
    trials = tuple(_trial(entry) for entry in _objects(raw, "trials"))
    cases = tuple(_case(entry, trials) for entry in _objects(raw, "cases"))
    config = _config(_object(raw, "config"), targets)
    spend = _spend(targets, trials)
    summary = summarize(
        Evidence(
            targets=targets,
            cases=cases,
            trials=trials,
            reference=config.reference_target_id,
            spend=spend,
            agents=_agents(raw),
        )
    )
    by_id = {case.id: case for case in cases}
    done = recorded_only(targets, trials)
    known = sum(part.known_usd for part in spend.values())
    unknown = sum(part.unknown_requests for part in spend.values())
    run_spend = RunSpend(
        total_usd=None if unknown else known,
        known_usd=known,
        unknown_requests=unknown,
        reserved_usd=0.0,
    )
    return Document(
        started_at=msgspec.convert(raw.get("startedAt"), str),
        finished_at=msgspec.convert(raw.get("finishedAt"), str),
        duration_ms=msgspec.convert(raw.get("durationMs"), float),
        completeness=done,
        trust=caveats(
            Circumstances(
                completeness=done,
                config=config,
                spend=run_spend,
                summary=summary,
                trials=trials,
                is_recorded_plan=False,
            )
        ),
        spend=run_spend,
        config=config,
        targets=tuple(map(document_target, targets)),
        cases=cases,
        summary=summary,
        trials=tuple(document_trial(t, by_id.get(t.case_id), with_answer=True) for t in trials),
    )


def _config(raw: _Raw, targets: tuple[Target, ...]) -> DocumentConfig:
    request = _part(raw, "request")
    derived = {
        "modelIds": list(dict.fromkeys(target.model_id for target in targets)),
        "request": request,
        "maxTokens": request.get("maxTokens"),
        "reasoningEffort": request.get("reasoningEffort"),
        "temperature": request.get("temperature"),
        "parallelGroups": raw.get("concurrency", 1),
        "saveResponses": raw.get("includeResponses", True),
        "reference": raw.get("referenceTargetId"),
        "allowCache": not raw.get("disableCache", True),
        "allowFallback": not raw.get("disableFallback", True),
    }
    return msgspec.convert(_present(raw) | derived, DocumentConfig)


def _target(raw: _Raw) -> Target:
    metadata = _part(raw, "metadata")
    prices = {
        "inputUsd": _number(metadata.get("inputPrice")),
        "outputUsd": _number(metadata.get("outputPrice")),
        # The seed writes 0 where a provider lists no price per request.
        "requestUsd": _number(metadata.get("requestPrice")) or None,
        "source": "catalogue",
    }
    known = prices["inputUsd"] is not None or prices["outputUsd"] is not None
    filled = {
        "modelId": raw.get("model"),
        "displayName": raw.get("model"),
        **_present(raw),
        "metadata": {
            **_present(metadata),
            "maxOutputTokens": metadata.get("maxOutput"),
            "upstreamModel": metadata.get("externalId"),
            "prices": prices if known else None,
        },
    }
    return msgspec.convert(filled, Target)


def _case(raw: _Raw, trials: tuple[Trial, ...]) -> CaseInfo:
    own = [trial for trial in trials if trial.case_id == raw.get("id")]
    derived = {
        "runs": max((trial.run for trial in own if not trial.warmup), default=0),
        "warmupRuns": max((trial.run for trial in own if trial.warmup), default=0),
        "textHash": None,
    }
    optional = {"category": None, "dimension": None, "difficulty": None}
    return msgspec.convert(optional | _present(raw) | derived, CaseInfo)


def _trial(raw: _Raw) -> Trial:
    response = dict(_object(raw, "response"))
    error = _part(response, "error")
    response["error"] = {**error, "seedCode": error.get("code")} if error else None
    response["usage"] = _present(_part(response, "usage"))
    response["timing"] = _present(_part(response, "timing"))
    response["toolCalls"] = [_tool_call(call) for call in _parts(response, "toolCalls")]
    response["streamChunks"] = _chunks(_parts(response, "streamChunks"))
    evaluation = _part(raw, "evaluation")
    sort = "w" if raw.get("warmup") else "r"
    filled = {
        **raw,
        "id": f"{raw.get('targetId')}|{raw.get('caseId')}|{sort}{raw.get('run')}",
        "outcome": "failed" if error else "completed",
        "response": response,
        "evaluation": {"passed": None, **_present(evaluation)} if evaluation else None,
        "costSource": "catalogue" if raw.get("estimatedCostUsd") is not None else None,
    }
    return msgspec.convert(filled, Trial)


def _tool_call(raw: _Raw) -> dict[str, Any]:
    function = _part(raw, "function")
    return {"id": raw.get("id"), **function}


def _chunks(raw: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Number the reads: chunks stamped alike arrived together, as far as that format knows."""
    chunks: list[dict[str, Any]] = []
    read, last = -1, None
    for chunk in raw:
        if chunk.get("atMs") != last:
            read, last = read + 1, chunk.get("atMs")
        chunks.append({**chunk, "read": read})
    return chunks


def _spend(targets: tuple[Target, ...], trials: tuple[Trial, ...]) -> dict[str, Spend]:
    spend = {}
    for target in targets:
        own = (trial.estimated_cost_usd for trial in trials if trial.target_id == target.id)
        known, unknown = total(own)
        spend[target.id] = Spend(known_usd=known, unknown_requests=unknown)
    return spend


def _agents(raw: _Raw) -> dict[str, Mapping[str, object]]:
    entries = _parts(_part(raw, "summary"), "targets")
    agents = {entry.get("targetId"): _part(entry, "agent") for entry in entries}
    return {str(target_id): agent for target_id, agent in agents.items() if agent}


def _object(raw: _Raw, name: str) -> dict[str, Any]:
    return msgspec.convert(raw.get(name), dict[str, Any])


def _objects(raw: _Raw, name: str) -> list[dict[str, Any]]:
    return msgspec.convert(raw.get(name), list[dict[str, Any]])


def _part(raw: _Raw, name: str) -> dict[str, Any]:
    """Return an object that may be absent or null."""
    return _object(raw, name) if raw.get(name) is not None else {}


def _parts(raw: _Raw, name: str) -> list[dict[str, Any]]:
    """Return a list of objects that may be absent or null."""
    return _objects(raw, name) if raw.get(name) is not None else []


def _present(raw: _Raw) -> dict[str, Any]:
    """Leave out nulls, so that defaults apply where our field can't be null."""
    return {name: value for name, value in raw.items() if value is not None}


def _number(value: object) -> float | None:
    """Read a price, which that format writes as a number or as its text."""
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None
