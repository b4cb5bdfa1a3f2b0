"""What `show` prints of a run, a list of trials, one trial, and a bill."""

import csv
import io
from collections import Counter

import msgspec
import pytest

from bench.document import build_document
from bench.errors import UnknownName
from bench.model.run_config import OptionOrigin
from bench.model.target import Prices
from bench.model.trial import Response, ToolCall, Usage
from bench.report.answers import failed_answers
from bench.report.billing import billing_csv, billing_rows
from bench.report.escaping import display_width
from bench.report.run_card import run_card
from bench.report.trial_cards import brief, failed_lines, find_trial, slowest_lines, trial_card
from tests.sample_documents import (
    FAST,
    PATH,
    failure,
    killed_ledger,
    ledger,
    response,
    smoke_ledger,
    timing,
    trial,
    verdict,
)

SMOKE = build_document(smoke_ledger())
KILLED = build_document(killed_ledger())


def document(*trials):
    return build_document(ledger(trials))


@pytest.mark.parametrize("width", [64, 100])
@pytest.mark.parametrize("shown", [SMOKE, KILLED], ids=["smoke", "killed"])
def test_a_card_fits_its_width(shown, width):
    lines = run_card(shown, width=width).splitlines()
    assert max(map(display_width, lines)) <= width


def test_a_card_says_what_whether_and_how():
    card = run_card(KILLED, width=100)
    assert "Can it be trusted?\n  No: figures are missing or broken.\n  !! " in card
    assert "What it cost\n  $0.00318 in all" in card
    assert "  $0.00300 reserved" in card
    assert "What was measured (prices per million tokens)\n  swift/demo-small: name Demo" in card
    assert "prices from simulator, 2026-11-30" in card
    assert "How it was made\n  run: " in card


def test_a_card_lists_the_settings_that_somebody_chose():
    options = {
        "runs": OptionOrigin(value=2, origin="flag"),
        "seed": OptionOrigin(value=1, origin="default"),
    }
    card = run_card(build_document(smoke_ledger(options=options)), width=100)
    assert "Settings that are no defaults\n  runs = 2  (flag)" in card
    assert "seed = 1" not in card
    assert "Gateway\n  build: commit: 0123abcd" in card


def test_a_card_says_that_a_cost_is_unknown():
    bare = msgspec.structs.replace(
        SMOKE.spend, total_usd=None, known_usd=0.5, unknown_requests=2, by_source={}
    )
    card = run_card(msgspec.structs.replace(SMOKE, spend=bare), width=100)
    assert "  at least $0.500; 2 requests of unknown cost" in card


def test_a_price_of_the_library_names_its_entry():
    prices = Prices(
        input_usd=1e-6, output_usd=1e-6, source="genai-prices", source_detail="0.2.3: openai/m"
    )
    metadata = msgspec.structs.replace(FAST.metadata, prices=prices)
    target = msgspec.structs.replace(FAST, metadata=metadata)
    shown = build_document(ledger((trial(target, PATH, 1),), targets=(target,)))
    card = " ".join(run_card(shown, width=100).split())
    assert "prices from genai-prices 0.2.3: openai/m, no date" in card


def test_failed_trials_say_why():
    lines = failed_lines(
        document(
            trial(FAST, PATH, 1),
            trial(FAST, PATH, 2, evaluation=verdict(passed=False, answer="41")),
            trial(FAST, PATH, 3, response=failure("http_500"), evaluation=None),
            trial(FAST, PATH, 4, invalidated="gateway_killed"),
        )
    )
    said = [line.text() for line in lines]
    assert [line.id.rpartition("|")[2] for line in lines] == ["r2", "r3", "r4"]
    assert "wrong: " in said[0]
    assert "http_500: " in said[1]
    assert "counts nowhere: gateway_killed" in said[2]


def test_the_slowest_come_first_and_failed_ones_and_warmups_are_among_them():
    lines = slowest_lines(SMOKE, 5)
    times = [line.total_ms or 0.0 for line in lines]
    assert times == sorted(times, reverse=True)
    assert len(lines) == 5
    assert len(slowest_lines(SMOKE, 10_000)) == sum(
        trial.response.timing.total_ms is not None for trial in SMOKE.trials
    )
    timeless = document(trial(FAST, PATH, 1, response=Response()))
    assert slowest_lines(timeless, 3) == ()


def test_a_trial_is_found_by_its_id_or_by_the_only_end_that_fits():
    whole = SMOKE.trials[0]
    assert find_trial(SMOKE, whole.id) is whole
    alone = document(trial(FAST, PATH, 1), trial(FAST, PATH, 2))
    assert find_trial(alone, "r2").run == 2
    with pytest.raises(UnknownName, match="no trial `r1`"):
        find_trial(SMOKE, "r1")
    with pytest.raises(UnknownName, match="did you mean"):
        find_trial(SMOKE, f"{whole.id}0")


def test_a_trial_tells_all_that_is_known_and_nothing_that_is_not():
    seen = trial(
        FAST,
        PATH,
        1,
        estimated_cost_usd=0.5,
        computed_cost_usd=0.25,
        cost_source="gateway",
        response=response(
            content="line one\nFINAL: 42\x1b[2J",
            reasoning="hm",
            tool_calls=(ToolCall(name="look", arguments='{"at": 1}'),),
            request_id="req-1",
            generation_id="gen-1",
        ),
    )
    card = trial_card(document(seen).trials[0], width=100)
    assert "  cost: $0.500 (gateway); $0.250 at known prices\n" in card
    assert "  request id: req-1\n  generation id: gen-1\n" in card
    assert '  tool call: look({"at": 1})\n' in card
    assert "Reasoning\n  hm\n" in card
    assert "Answer\n  line one\n  FINAL: 42" in card
    assert "\x1b" not in card
    assert "fallback" not in card


def test_a_trial_of_unknown_cost_says_so():
    bare = trial(FAST, PATH, 1, estimated_cost_usd=None, evaluation=None)
    card = trial_card(document(bare).trials[0], width=100)
    assert "  outcome: answered\n" in card
    assert "  cost: unknown\n" in card


def test_what_programs_get_of_a_trial_is_small_whatever_was_answered():
    long = trial(
        FAST,
        PATH,
        1,
        response=response(
            timing(itl_ms=(1.0,) * 5000, content_itl_ms=(1.0,) * 5000),
            content="x" * 100_000,
            reasoning="x" * 100_000,
            tool_calls=(ToolCall(name="f", arguments="x" * 100_000),),
            usage=Usage(prompt_tokens=1, raw={"x": "x" * 100_000}),
        ),
    )
    assert len(msgspec.json.encode(brief(document(long).trials[0]))) < 4_000


def test_a_bill_has_a_row_for_every_request_and_its_ids():
    hostile = response(
        request_id="=cmd()", generation_id="gen-1", usage=Usage(prompt_tokens=7, cost_usd=0.5)
    )
    book = ledger(
        (
            trial(
                FAST,
                PATH,
                1,
                response=hostile,
                estimated_cost_usd=0.5,
                cost_source="gateway",
                computed_cost_usd=0.25,
            ),
            trial(FAST, PATH, 2, response=failure("idle_timeout"), estimated_cost_usd=None),
        )
    )
    first, second = csv.DictReader(io.StringIO(billing_csv(billing_rows(book))))
    assert first["requestId"] == "'=cmd()"
    assert (first["generationId"], first["promptTokens"]) == ("gen-1", "7")
    assert (first["costUsd"], first["costSource"]) == ("0.5", "gateway")
    assert (first["reportedCostUsd"], first["computedCostUsd"]) == ("0.5", "0.25")
    assert first["at"].endswith("Z")
    assert (second["costUsd"], second["costSource"]) == ("0.001", "reserve")
    assert (second["errorCode"], second["reportedCostUsd"]) == ("idle_timeout", "")


def test_a_lost_request_is_a_row_of_the_bill_too():
    rows = billing_rows(killed_ledger())
    lost = [row for row in rows if row["trialId"] == f"{FAST.id}|seeded_structured_extraction|r2"]
    assert [(row["costUsd"], row["costSource"], row["status"]) for row in lost] == [
        (0.002, "reserve", None)
    ]
    assert {row["model"] for row in rows} == {FAST.model}
    assert [row["end"] for row in lost] == ["lost"]
    assert {row["end"] for row in rows if row not in lost} == {"recorded"}


def test_what_a_living_process_waits_for_is_no_lost_row_of_the_bill():
    rows = billing_rows(killed_ledger(), is_going_on=True)
    assert Counter(row["end"] for row in rows)["in-flight"] == 1
    assert "lost" not in {row["end"] for row in rows}


def test_texts_that_were_not_kept_are_no_empty_answer():
    lean = msgspec.structs.replace(response(), content="", texts_kept=False)
    wrong = trial(response=lean, evaluation=verdict(passed=False))
    (shown,) = document(wrong).trials
    assert "Its texts were not kept" in trial_card(shown, width=80)
    (told,), more = failed_answers(document(wrong))
    assert ("Output", "not kept") in told.facts
    assert more == 0
    assert "not kept" not in trial_card(document(trial()).trials[0], width=80)
