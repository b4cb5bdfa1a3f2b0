"""The end of a journal whose writer died."""

import json

import pytest

from orchestrator.aftermath import append, footer, incident, read_state


def lines(*records):
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


HEADER = {"type": "header"}
STARTED = {"type": "started", "trialId": "a", "offsetMs": 10.0}
OTHER = {"type": "started", "trialId": "b", "offsetMs": 12.0}
DONE = {"type": "trial", "trial": {"id": "a", "finishedOffsetMs": 90.5}}
RESUMED = {"type": "resumed", "offsetMs": 200.0}
FOOTER = {"type": "footer", "offsetMs": 300.0}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(lines(HEADER), (False, False, (), 0, 0), id="nothing begun"),
        pytest.param(lines(HEADER, STARTED, OTHER), (False, False, ("a", "b"), 0, 12), id="begun"),
        pytest.param(
            lines(HEADER, STARTED, OTHER, DONE), (False, False, ("b",), 0, 90.5), id="done"
        ),
        pytest.param(lines(HEADER, STARTED)[:-5], (False, True, (), 0, 0), id="cut while writing"),
        pytest.param(
            lines(HEADER, STARTED, RESUMED, OTHER), (False, False, ("b",), 200, 200), id="resumed"
        ),
        pytest.param(lines(HEADER, STARTED, FOOTER), (True, False, ("a",), 0, 300), id="ended"),
        pytest.param(
            lines(HEADER) + b"[1]\nnull\n\xff\n" + lines(STARTED),
            (False, False, ("a",), 0, 10),
            id="odd",
        ),
        pytest.param(
            lines(HEADER, {"type": "trial", "trial": None}), (False, False, (), 0, 0), id="no trial"
        ),
    ],
)
def test_how_far_a_journal_got(tmp_path, data, expected):
    path = tmp_path / "j.jsonl"
    path.write_bytes(data)
    state = read_state(path)
    assert (state.has_end, state.is_torn, state.in_flight) == expected[:3]
    assert (state.begun_offset_ms, state.last_offset_ms) == expected[3:]


def test_what_is_appended_begins_on_a_line_of_its_own(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_bytes(lines(HEADER) + b'{"type":"tri')
    ended = footer(at="2025-01-01T00:00:00.000Z", offset_ms=5.0, reason="killed", exit_code=5)
    append(path, (ended,), is_torn=True)
    assert json.loads(path.read_bytes().splitlines()[-1]) == ended
    assert path.read_bytes().splitlines()[1] == b'{"type":"tri'


def test_the_records_are_what_the_benchmark_reads(tmp_path):
    import msgspec

    from bench.model.footer import Footer
    from bench.model.surroundings import Incident

    made = incident(
        kind="client_killed", at="t", at_ns=1, summary="s", detail={"x": 1}, touched=("a",)
    )
    assert msgspec.convert(made, Incident).touched_trials == ("a",)
    ended = footer(at="t", offset_ms=5.0, reason="killed", exit_code=5)
    assert msgspec.convert(ended, Footer).spent_usd is None
