"""Document ⇄ bytes. NaN and infinity can't be written: JSON has neither, they become null."""

from typing import Any

import msgspec

from bench.document.version2 import upgrade
from bench.errors import JournalUnreadable
from bench.model.document import DOCUMENT_VERSION, SCHEMA_VERSION, Document


def encode_document(document: Document) -> bytes:
    """Return the document as one line of JSON with a line feed at its end."""
    return msgspec.json.encode(document) + b"\n"


def read_document(data: bytes) -> Document:
    """Return a document of this tool, or one of the seed system's version 2 with what it lacks.

    Figures of a version-2 document are computed anew from its trials, so that both kinds mean the
    same; agentic figures are taken over.

    Raises:
        JournalUnreadable: No JSON object, another schema, a newer version, or a field of a wrong
            kind (named by its path).
    """
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        message = f"the file is not JSON: {error}"
        raise JournalUnreadable(message, hint=_HINT) from error
    if not isinstance(raw, dict) or "schemaVersion" not in raw:
        raise JournalUnreadable(
            "the file is no result document: it has no `schemaVersion`", hint=_HINT
        )
    _check_versions(raw)
    try:
        if raw.get("generator") is None:
            return upgrade(raw)
        return msgspec.convert(_as_now(raw), Document)
    except msgspec.ValidationError as error:
        message = f"the result document has a field of a wrong kind: {error}"
        raise JournalUnreadable(message, hint=_HINT) from error


def _as_now(raw: dict[str, Any]) -> dict[str, Any]:
    """Give what older documents of this tool hold the names that it has since."""
    summary = raw.get("summary")
    overhead = summary.get("overhead") if isinstance(summary, dict) else None
    if isinstance(overhead, dict) and overhead.get("claim") is not None:
        overhead.setdefault("claims", [overhead["claim"]])
    incidents = raw.get("incidents")
    for incident in incidents if isinstance(incidents, list) else ():
        if isinstance(incident, dict) and "incidentClass" in incident:
            incident["class"] = incident.pop("incidentClass")
    return raw


def _check_versions(raw: dict[str, Any]) -> None:
    found = raw["schemaVersion"]
    if found != SCHEMA_VERSION:
        message = f"the result document has schema version {found!r}; this reads {SCHEMA_VERSION}"
        raise JournalUnreadable(message, hint=_HINT)
    generator = raw.get("generator")
    written = generator.get("documentVersion") if isinstance(generator, dict) else None
    if isinstance(written, int) and written > DOCUMENT_VERSION:
        message = (
            f"the result document has format version {written}, written by a newer tool; "
            f"this reads up to {DOCUMENT_VERSION}"
        )
        raise JournalUnreadable(message, hint="update gateway-bench")


_HINT = "give a `.json` result document or a `.jsonl` journal"
