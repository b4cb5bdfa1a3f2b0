"""Our records in the shapes that version-2 readers expect; nothing is lost, some is said twice."""

from msgspec.structs import asdict

from bench.model.case import CaseInfo
from bench.model.document import (
    CalledFunction,
    DocumentConfig,
    DocumentEvaluation,
    DocumentMetadata,
    DocumentResponse,
    DocumentTarget,
    DocumentToolCall,
    DocumentTrial,
)
from bench.model.run_config import RunConfig
from bench.model.target import Target
from bench.model.trial import ToolCall, Trial, Usage
from bench.model.turn import TurnTrace


def document_config(config: RunConfig, *, reference: str | None) -> DocumentConfig:
    """Return the settings under both sets of names."""
    overrides = {
        "maxTokens": config.max_tokens,
        "reasoningEffort": config.reasoning_effort,
        "temperature": config.temperature,
    }
    return DocumentConfig(
        **asdict(config),
        concurrency=config.parallel_groups,
        include_responses=config.save_responses,
        reference_target_id=reference,
        disable_cache=not config.allow_cache,
        disable_fallback=not config.allow_fallback,
        request={name: value for name, value in overrides.items() if value is not None},
    )


def document_target(target: Target) -> DocumentTarget:
    """Return the target with its prices under both sets of names."""
    prices = target.metadata.prices
    metadata = DocumentMetadata(
        **asdict(target.metadata),
        input_price=prices.input_usd if prices else None,
        output_price=prices.output_usd if prices else None,
        request_price=prices.request_usd if prices else None,
        max_output=target.metadata.max_output_tokens,
        external_id=target.metadata.upstream_model,
    )
    return DocumentTarget(**(asdict(target) | {"metadata": metadata}))


def document_trial(
    trial: Trial,
    case: CaseInfo | None,
    *,
    with_answer: bool,
    turns: tuple[TurnTrace, ...] = (),
) -> DocumentTrial:
    """Return the trial with what version 2 says of its case.

    Args:
        trial: As recorded.
        case: ``None`` when the run does not list it.
        with_answer: False leaves out text, tool calls and chunks (``--no-responses``).
        turns: Of an agentic trial.
    """
    response = asdict(trial.response)
    response["tool_calls"] = tuple(map(_tool_call, trial.response.tool_calls))
    response["usage"] = trial.response.usage or Usage()
    if not with_answer:
        response |= {"texts_kept": False, "content": "", "reasoning": ""}
        response |= {"tool_calls": (), "stream_chunks": ()}
    evaluation = trial.evaluation
    replaced = {
        "response": DocumentResponse(**response),
        "evaluation": evaluation and DocumentEvaluation(**asdict(evaluation)),
    }
    return DocumentTrial(
        **(asdict(trial) | replaced),
        kind=case.kind if case else None,
        category=case.category if case else None,
        dimension=case.dimension if case else None,
        difficulty=case.difficulty if case else None,
        turns=turns,
    )


def _tool_call(call: ToolCall) -> DocumentToolCall:
    return DocumentToolCall(
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        function=CalledFunction(name=call.name, arguments=call.arguments),
    )
