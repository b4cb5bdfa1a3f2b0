"""The JSON Schema of result documents, generated from their types.

Shipped as ``bench/schemas/result-document.json``, so that other programs can check what they read.
"""

from typing import Any

import msgspec

from bench.model.agent_summary import AgentSummary
from bench.model.document import DOCUMENT_VERSION, Document

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def document_schema() -> dict[str, Any]:
    """Return the schema of what ``encode_document`` writes. Unknown fields are allowed."""
    schema = msgspec.json.schema(Document)
    _, known = msgspec.json.schema_components([AgentSummary], ref_template="#/$defs/{name}")
    schema["$defs"] |= known
    # Of a version-2 document it is an object as that one had it.
    agent = schema["$defs"]["TargetSummary"]["properties"]["agent"]
    agent["anyOf"].insert(0, {"$ref": "#/$defs/AgentSummary"})
    return {
        "$schema": _DIALECT,
        "title": "Result document of gateway-bench",
        "description": f"Format version {DOCUMENT_VERSION} (`generator.documentVersion`). Figures are "
        "explained in docs/metrics.md; `null` means not measured or not known.",
        **schema,
    }


def schema_text() -> str:
    """Return it as the text of the shipped file."""
    return msgspec.json.format(msgspec.json.encode(document_schema()), indent=1).decode() + "\n"
