"""What members use together: nothing counted twice, nothing lost, nothing guessed."""

from dataclasses import replace

import pytest

from orchestrator.resources import CpuTally, Extremes, sample_values
from orchestrator.watch_ports import Connections, Usage


def member(pid=10, **changes):
    usual = Usage(
        pid=pid,
        start_ticks=5,
        parent=1,
        cpu_ms=0.0,
        waited_cpu_ms=0.0,
        resident_bytes=2_000_000,
        threads=1,
        descriptors=4,
    )
    return replace(usual, **changes)


def totals(*turns):
    tally = CpuTally()
    return [tally.total_ms(turn) for turn in turns]


def test_the_time_of_all_members_is_added():
    assert totals([member(cpu_ms=100), member(11, cpu_ms=50, parent=10)]) == [150.0]


@pytest.mark.parametrize(
    ("waited", "total"),
    [
        pytest.param(80.0, 180.0, id="its parent waited, and knows a little more"),
        pytest.param(0.0, 150.0, id="its parent ignores its children"),
        pytest.param(30.0, 150.0, id="its parent waited for another one only"),
    ],
)
def test_a_worker_that_ended_is_counted_once(waited, total):
    before = [member(cpu_ms=100), member(11, cpu_ms=50, parent=10)]
    assert totals(before, [member(cpu_ms=100, waited_cpu_ms=waited)]) == [150.0, total]


def test_a_worker_whose_parent_ended_too_is_counted_once():
    before = [member(), member(11, cpu_ms=5, parent=10), member(12, cpu_ms=7, parent=11)]
    assert totals(before, [member()]) == [12.0, 12.0]


def test_another_process_with_the_pid_of_a_member_does_not_inherit_its_time():
    before = [member(), member(11, cpu_ms=50, parent=10, start_ticks=5)]
    assert totals(before, [member(), member(11, cpu_ms=2, parent=10, start_ticks=9)]) == [
        50.0,
        52.0,
    ]


def test_the_time_of_a_member_out_of_sight_makes_the_whole_unknown():
    hidden = Usage(pid=11, start_ticks=5, parent=10)
    assert totals([member(cpu_ms=100), hidden]) == [None]


def test_a_sample_names_its_units_and_leaves_out_what_is_unknown():
    values = sample_values([member(threads=3), member(11, descriptors=6)], cpu_ms=None)
    assert values == {"processes": 2.0, "rssMb": 4.0, "threads": 4.0, "descriptors": 10.0}


def test_half_a_sum_is_no_sum():
    values = sample_values([member(), Usage(pid=11, start_ticks=5, parent=10)], cpu_ms=1.0)
    assert values == {"processes": 2.0, "cpuMs": 1.0}


def test_memory_and_connections_are_there_when_they_were_asked_for():
    values = sample_values(
        [member()],
        cpu_ms=1.0,
        proportional_bytes=1_500_000,
        connections=Connections(incoming=7, waiting=2, outgoing=3),
    )
    assert values["pssMb"] == 1.5
    assert [values[f"connections{kind}"] for kind in ("In", "Waiting", "Out")] == [7.0, 2.0, 3.0]


def test_extremes_are_first_largest_and_last_and_the_time_between():
    used = Extremes()
    assert used.facts() is None
    for at_ns, cpu_ms, rss in (
        (1_000_000, 50.0, 10.0),
        (4_000_000, 60.0, 30.0),
        (9_000_000, 75.0, 20.0),
    ):
        used.take(at_ns, {"cpuMs": cpu_ms, "rssMb": rss})
    facts = used.facts()
    assert facts is not None
    assert (facts["samples"], facts["spanMs"], facts["cpuMs"]) == (3, 8.0, 25.0)
    assert [facts[f"{which}RssMb"] for which in ("idle", "peak", "final")] == [10.0, 30.0, 20.0]
    assert facts["peakPssMb"] is None
