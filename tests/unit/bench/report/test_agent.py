from functools import cache

import msgspec
import pytest

from bench.document import build_document, encode_document, read_document
from bench.report import REPORTS, terminal_summary
from bench.report.agent import agent_sections, agent_sentences
from bench.report.sections import sections
from bench.report.transcripts import transcript, transcripts
from bench.report.trial_cards import brief, trial_card
from tests.sample_coding import HOSTILE, coding_ledger


@cache
def document():
    return build_document(coding_ledger())


@pytest.mark.parametrize("ending", [".md", ".html"])
def test_a_coding_report_is_the_one_that_was_read_by_a_person(ending, golden):
    golden(f"coding{ending}", REPORTS[ending](document()))


def test_a_coding_summary_is_the_one_that_was_read_by_a_person(golden):
    golden("coding.txt", terminal_summary(document(), width=80))


def test_there_is_one_foldable_transcript_for_each_trial():
    found, more = transcripts(document())
    assert [one.verdict for one in found] == [
        "solved",
        "solved",
        "not solved",
        "no verdict",
        "no verdict",
    ]
    assert more == 0
    page = REPORTS[".html"](document())
    assert page.count('<details class="answer transcript">') == len(found)


def test_hostile_text_of_a_model_is_no_markup_in_a_transcript():
    page = REPORTS[".html"](document())
    assert "<script>alert(1)" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert HOSTILE not in REPORTS[".md"](document())


def test_a_sentence_says_who_solved_how_much():
    fast, slow = agent_sentences(document())
    assert fast.startswith(
        "Coding: swift/demo-small solved 2 of 2 (in 1 task, 34 to 100%; 3 turns;"
    )
    assert "solved 0 of 1" in slow
    assert "2 trials without a verdict" in slow


def test_the_sandbox_is_named_where_the_run_is_described():
    text = REPORTS[".md"](document())
    assert "| sandbox | full (namespaces) |" in text
    assert "sandbox: network" in text


def test_a_document_reads_back_with_its_turns():
    again = read_document(encode_document(document()))
    assert again == document()
    assert [len(trial.turns) for trial in again.trials] == [3, 3, 2, 1, 2]


def test_figures_of_an_older_document_that_can_not_be_read_are_left_out():
    target = msgspec.structs.replace(document().summary.targets[0], agent={"attempted": "many"})
    summary = msgspec.structs.replace(document().summary, targets=(target,))
    odd = msgspec.structs.replace(document(), summary=summary)
    assert [section.table.rows for section in agent_sections(odd)] == [()] * 6


def test_a_card_of_a_trial_tells_each_turn_and_what_was_said_to_bad_calls():
    trials = document().trials
    cards = [trial_card(trial, width=80) for trial in trials]
    for trial, card in zip(trials, cards, strict=True):
        assert "\nHow it went\n  stop reason " in card
        assert card.count("\nTurn ") == len(trial.turns)
        assert "\nAnswer\n" not in card
        assert "\u202e" not in card
        assert "\x1b" not in card
    bad = next(c for t in trials for turn in t.turns for c in turn.calls if not c.ok)
    assert any(f"  ! {bad.name}: " in card for card in cards)


def test_of_many_changed_files_the_first_are_named():
    trial = document().trials[0]
    assert trial.agent is not None
    paths = tuple(f"{number}.py" for number in range(400))
    many = msgspec.structs.replace(
        trial, agent=msgspec.structs.replace(trial.agent, changed_files=paths)
    )
    assert "11.py and 388 more" in transcript(many).detail
    short = brief(many).agent
    assert short is not None
    assert short.changed_files == paths[:12]


def changed_summary(*targets):
    summary = msgspec.structs.replace(document().summary, targets=targets)
    return msgspec.structs.replace(document(), summary=summary)


def test_the_first_table_has_no_column_that_nothing_was_measured_for():
    (table,) = (one.table for one in sections(document()) if one.id == "overview")
    assert table.columns == (
        "Target",
        "Measured",
        "Success",
        "Solved",
        "Turns p50",
        "Wall clock p50",
        "Cost per solved task",
    )


def test_a_target_without_agentic_trials_beside_others_has_no_figures_of_them():
    coder, other = document().summary.targets
    mixed = changed_summary(coder, msgspec.structs.replace(other, agent=None))
    (table,) = (one.table for one in sections(mixed) if one.id == "overview")
    assert [cell.text for cell in table.rows[1]][3:] == ["-"] * 4
    told = terminal_summary(mixed, width=80)
    assert any(line.startswith("target") and "solved" in line for line in told.splitlines())
    assert "Best at coding" not in told
    bare = changed_summary(coder, msgspec.structs.replace(other, agent={"attempted": 2}))
    (table,) = (one.table for one in sections(bare) if one.id == "overview")
    assert [cell.text for cell in table.rows[1]][3:] == ["-"] * 4
    assert "0 of 2" in table.rows[1][3].detail
