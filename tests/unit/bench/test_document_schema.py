"""The shipped schema is that of the types, documents keep to it, and version 2 is inside it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from bench.document import build_document, encode_document, read_document
from bench.document.schema import document_schema, schema_text
from bench.model.trial import Timing, Usage
from tests.document_schema import SHIPPED, check_document
from tests.sample_coding import coding_ledger
from tests.sample_documents import failure, killed_ledger, ledger, smoke_ledger, trial, verdict
from tests.sample_load import LEVELS, slowing_trials

VERSION_2 = Path(__file__).parents[2] / "golden" / "version2.json"


def test_the_shipped_schema_is_that_of_the_types(golden):
    golden(str(SHIPPED), schema_text())


def test_the_schema_is_one():
    jsonschema_rs.meta.validate(document_schema())


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(smoke_ledger(), id="whole"),
        pytest.param(killed_ledger(), id="killed"),
        pytest.param(coding_ledger(), id="coding"),
        pytest.param(ledger(slowing_trials(), cases=LEVELS), id="load"),
        pytest.param(ledger((), targets=(), cases=()), id="nothing planned"),
        pytest.param(ledger((trial(response=failure()),)), id="all failed"),
    ],
)
def test_every_kind_of_document_keeps_to_the_schema(run):
    check_document(encode_document(build_document(run)))


def test_a_version_2_document_that_was_read_keeps_to_it_too():
    check_document(encode_document(read_document(VERSION_2.read_bytes())))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("summary",), None),
        (("trials", 0, "run"), "1"),
        (("trials", 0, "response", "timing", "totalMs"), "fast"),
        (("completeness", "planned"), 1.5),
        (("targets", 0, "id"), None),
    ],
)
def test_the_schema_refuses_what_is_of_another_kind(path, value):
    document = json.loads(encode_document(build_document(smoke_ledger())))
    at = document
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    with pytest.raises(jsonschema_rs.ValidationError):
        check_document(json.dumps(document).encode())


# ---- version 2 ---------------------------------------------------------------------------------

TIMING = """headersMs firstEventMs firstReasoningMs firstContentMs lastContentMs totalMs generationMs
visibleTokensPerSecond contentChunkCount averageContentChunkCharacters maxContentStallMs
finalContentBurstRatio buffered"""
NUMBERS = """count min mean p50 p90 p95 p99 max standardDeviation medianAbsoluteDeviation
coefficientOfVariation"""
SPEED = """headersMs firstEventMs firstReasoningMs totalMs ttftMs generationMs visibleTokensPerSecond
maxContentStallMs averageContentChunkCharacters finalContentBurstRatio"""
# Where in a document, and which fields version 2 has there.
FIELDS = {
    "": "schemaVersion startedAt finishedAt durationMs config targets cases summary trials",
    "config": """url runs warmupRuns concurrency timeoutMs budgetMs seed includeResponses
        referenceTargetId disableCache disableFallback request""",
    "targets": "id model modelId mapping displayName metadata",
    "targets.metadata": """provider region externalId quantization stability inputPrice outputPrice
        requestPrice contextSize maxOutput""",
    "cases": """id name kind category dimension difficulty variantOf variant seedGroup description
        runs warmupRuns concurrency""",
    "trials": """targetId caseId kind category dimension difficulty run seed parameters warmup
        startedOffsetMs finishedOffsetMs response evaluation estimatedCostUsd""",
    "trials.response": """content reasoning toolCalls finishReason responseModel requestId usage timing
        streamChunks error agent""",
    "trials.response.toolCalls": "id type function",
    "trials.response.toolCalls.function": "name arguments",
    "trials.response.usage": """promptTokens completionTokens reasoningTokens
        visibleCompletionTokens raw""",
    "trials.response.timing": TIMING,
    "trials.response.streamChunks": "atMs characters kind",
    "trials.response.error": "code message",
    "trials.evaluation": "passed answer expected detail confidence score metrics",
    "summary": "targets cases categories difficulties dimensions pairwiseAgreement load",
    "summary.targets": """targetId attempted succeeded valid quality referenceAgreement fingerprint
        performance agent reliability efficiency robustnessDrop achievedRequestsPerSecond""",
    "summary.targets.quality": """attempted passed score instructionScore firstPassScore uniqueAnswers
        answerEntropy consistencyRate meanConfidence brierScore""",
    "summary.targets.referenceAgreement": "compared matching rate confidence95",
    "summary.targets.performance": f"{SPEED} bufferedRate",
    "summary.targets.performance.ttftMs": NUMBERS,
    "summary.targets.reliability": """successRate timeoutRate rateLimitRate truncatedRate
        malformedStreamRate errorsByCode""",
    "summary.targets.efficiency": """estimatedCostUsd costPerCorrectAnswerUsd reasoningTokenRatio
        usageMissingRate""",
    "summary.targets.fingerprint": """agreement referenceErrorAgreement rarityWeightedErrorAgreement
        categorySimilarity reasoningRatioDelta behaviouralSimilarity""",
    "summary.cases": """targetId caseId attempted succeeded valid quality metrics
        achievedRequestsPerSecond""",
    "summary.cases.metrics": f"{SPEED} bufferedRate",
    "summary.categories": "targetId key attempted passed score",
    "summary.difficulties": "targetId key attempted passed score",
    "summary.dimensions": "targetId key attempted passed score",
    "summary.pairwiseAgreement": "leftTargetId rightTargetId agreement",
    "summary.load": "targetId points saturationConcurrency",
    "summary.load.points": """concurrency successRate achievedRequestsPerSecond ttftP50Ms totalP50Ms
        degradation""",
}


def fields_at(path: str) -> set[str]:
    """The fields of our documents at a place, by the schema."""
    schema = document_schema()
    at = [schema]
    for name in filter(None, path.split(".")):
        at = [deeper[name] for one in _objects(at, schema) if name in (deeper := one["properties"])]
    return {name for one in _objects(at, schema) for name in one["properties"]}


def _objects(found: list[dict[str, Any]], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for one in found:
        if "$ref" in one:
            yield from _objects([schema["$defs"][one["$ref"].rpartition("/")[2]]], schema)
        yield from _objects(one.get("anyOf", []), schema)
        if isinstance(one.get("items"), dict):
            yield from _objects([one["items"]], schema)
        if "properties" in one:
            yield one


@pytest.mark.parametrize("path", FIELDS)
def test_our_documents_have_every_version_2_field(path):
    assert set(FIELDS[path].split()) - fields_at(path) == set()


def _places(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for item in value:
            yield from _places(item, path)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield path, name
            yield from _places(inner, f"{path}.{name}".lstrip("."))


# Free-form objects: what is in them is the model's, the gateway's or the case's.
FREE = ("trials.parameters", "trials.response.usage.raw", "config.request", "trials.evaluation.metrics",
        "trials.response.agent", "summary.targets.agent")  # fmt: skip


def test_every_field_of_a_version_2_document_is_a_field_of_ours():
    places = set(_places(json.loads(VERSION_2.read_bytes())))
    known = {path: fields_at(path) for path, _ in places if not path.startswith(FREE)}
    assert {
        (path, name) for path, name in places if path in known and name not in known[path]
    } == set()


def test_what_version_2_said_of_a_trial_is_said_again_unchanged():
    raw = json.loads(VERSION_2.read_bytes())
    ours = json.loads(encode_document(read_document(VERSION_2.read_bytes())))
    assert len(raw["trials"]) == len(ours["trials"])
    for old, new in zip(raw["trials"], ours["trials"], strict=True):
        for name in FIELDS["trials"].split():
            if name in {"response", "evaluation"}:
                continue
            assert new[name] == old.get(name), name
        for name, value in old["response"]["timing"].items():
            assert new["response"]["timing"][name] == value
        told = {k: v for k, v in (old["evaluation"] or {}).items() if v is not None}
        assert told.items() <= ({"passed": None} | (new["evaluation"] or {})).items()


def test_optional_parts_do_not_change_which_fields_are_there():
    bare = trial(response=failure(), evaluation=verdict(None, None))
    document = json.loads(encode_document(build_document(ledger((bare,)))))
    response = document["trials"][0]["response"]
    assert set(Timing.__struct_encode_fields__) <= response["timing"].keys()
    assert set(Usage.__struct_encode_fields__) <= response["usage"].keys()
