"""What is noticed reaches the measuring process; samples only once it writes, and never by waiting."""

import json
import os

import msgspec

from orchestrator.exposure import Exposure
from orchestrator.link import JobLink
from orchestrator.lookout import Reading
from orchestrator.notes import Note, listed
from orchestrator.starting import start
from orchestrator.tidings import Tidings
from tests.fakes_orchestrator import FakeMachine
from tests.unit.orchestrator.test_starting import launch, request


class Line:
    """A link, and what its other end heard."""

    def __init__(self, **changes):
        self.link = JobLink()
        record = start(FakeMachine().ports, request(), launch()).record
        self.tidings = Tidings(self.link, msgspec.structs.replace(record, **changes))

    def heard(self):
        """Read all that was said; ends both ends."""
        descriptor = os.dup(self.link.child_descriptor)
        os.set_blocking(descriptor, False)
        data = b""
        try:
            while piece := os.read(descriptor, 1 << 20):
                data += piece
        except BlockingIOError:
            pass
        os.close(descriptor)
        return [json.loads(line) for line in data.splitlines() if line.endswith(b"}")]

    def sampled(self, at_ns, **values):
        self.tidings.reading(Reading(at_ns=at_ns, values=values))


def test_the_first_sample_waits_for_the_journal_and_those_between_are_left_out():
    line = Line()
    for at_ns in (1, 2, 3):
        line.sampled(at_ns, rssMb=1.0)
    assert line.heard() == []
    line.tidings.journal_made()
    line.sampled(4, rssMb=2.0)
    assert [one["atNs"] for one in line.heard()] == [1, 4]
    line.link.close()


def test_a_notice_goes_at_once_and_ends_nothing():
    line = Line()
    line.tidings.note(
        Note(incident_class="machine_slept", at_ns=9, since_ns=5, summary="s", detail={"a": 1})
    )
    assert line.heard() == [
        {
            "type": "incident",
            "class": "machine_slept",
            "atNs": 9,
            "sinceNs": 5,
            "summary": "s",
            "detail": {"a": 1},
            "fatal": False,
            "told": False,
        }
    ]
    line.link.close()


def test_exposure_that_was_said_when_the_gateway_came_up_is_not_said_again():
    line = Line(exposure=(Exposure(pid=7, pattern="serve", command="c"),))
    for pid in (7, 8):
        found = [{"pid": 7, "pattern": "serve"}, {"pid": pid, "pattern": "serve"}]
        line.tidings.note(
            Note(incident_class="exposed", at_ns=1, summary="s", detail={"processes": found})
        )
    assert [one["told"] for one in line.heard()] == [True, False]
    line.link.close()


def test_a_measuring_process_that_hears_nothing_costs_samples_and_no_time():
    line = Line()
    line.tidings.journal_made()
    sent = 0
    while line.link.offer({"type": "sample", "atNs": sent, "values": {}}):
        sent += 1
        assert sent < 1_000_000
    heard = line.heard()
    assert line.link.offer({"type": "sample", "atNs": -1, "values": {}})
    line.link.send({"type": "outcome"})
    rest = line.heard()
    assert [one["atNs"] for one in heard] == list(range(len(heard)))
    assert len(heard) >= sent - 1
    assert [one["type"] for one in rest][-2:] == ["sample", "outcome"]
    line.link.close()


def test_samples_for_a_process_that_is_gone_are_dropped():
    line = Line()
    line.link.child_has_it()
    assert line.link.offer({"type": "sample"})
    assert line.link.offer({"type": "sample"})
    line.link.close()


def test_names_are_listed_as_people_do():
    assert listed(["a"]) == "`a`"
    assert listed(["a", "b", "c"]) == "`a`, `b` and `c`"
    assert listed(["a", "b", "c", "d", "e"]) == "`a`, `b`, `c` and 2 more"
