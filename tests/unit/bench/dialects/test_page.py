from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.dialects import DIALECTS, Dialect

PAGE = (Path(__file__).parents[4] / "docs" / "dialects.md").read_text()


def keys(fields: Mapping[str, Any]) -> Iterator[str]:
    for key, value in fields.items():
        yield key
        if isinstance(value, Mapping):
            yield from keys(value)


def told(dialect: Dialect) -> Iterator[str]:
    for words in (dialect.pin, dialect.no_cache, dialect.no_fallback, dialect.tags, dialect.always):
        yield from words.headers
        yield from keys(words.fields)
    sources = (*dialect.request_id[:1], *dialect.served_provider, *dialect.served_model)
    sources += (*dialect.cost_usd, *dialect.cache_hit, *dialect.fallback, *dialect.attempts)
    for source in (*sources, *dialect.overhead_ms):
        yield source.partition(":")[2].rpartition(".")[2]


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_the_page_names_every_word_of_every_dialect(dialect):
    assert f"`{dialect.name}`" in PAGE
    missing = [word for word in told(dialect) if word not in PAGE]
    assert missing == []
