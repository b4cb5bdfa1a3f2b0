"""Holds result documents against the schema that ships."""

from functools import cache
from pathlib import Path

import jsonschema_rs
import msgspec

SHIPPED = Path(__file__).parents[1] / "bench" / "schemas" / "result-document.json"


def check_document(data: bytes) -> None:
    """Raise where ``data`` is no result document by the shipped schema."""
    _validator().validate(msgspec.json.decode(data))


@cache
def _validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(msgspec.json.decode(SHIPPED.read_bytes()))


def check_documents(folder: Path) -> None:
    """Check every result document in a folder of results."""
    for path in filter(Path.is_file, folder.glob("*.json")):
        data = path.read_bytes()
        if b'"generator"' in data:
            check_document(data)
