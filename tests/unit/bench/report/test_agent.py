from functools import cache

import msgspec
import pytest

from bench.document import build_document, encode_document, read_document
from bench.report import REPORTS, terminal_summary
from bench.report.agent import agent_sections, agent_sentences
from bench.report.transcripts import transcripts
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
