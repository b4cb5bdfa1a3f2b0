"""Where cases came from that don't ship is told in every report."""

import msgspec

from bench.document import build_document
from bench.model.run_config import ExternalSource
from bench.report import REPORTS
from tests.sample_documents import smoke_ledger


def test_an_external_suite_and_own_cases_are_named_and_escaped():
    document = build_document(smoke_ledger())
    source = ExternalSource(suite="ifeval", mode="loose", data="/d/<b>.jsonl", skipped=3)
    config = msgspec.structs.replace(
        document.config, external_suite=source, user_cases=("/home/evals", "own.py:cases")
    )
    told = REPORTS[".html"](msgspec.structs.replace(document, config=config))
    assert "ifeval, loose, /d/&lt;b&gt;.jsonl; 3 left out as unsupported" in told
    assert "/home/evals, own.py:cases" in told


def test_a_run_of_cases_that_ship_says_nothing_of_it():
    told = REPORTS[".md"](build_document(smoke_ledger()))
    assert "external suite" not in told
    assert "own cases" not in told
