"""Every kind of record a journal may hold.

A journal is JSON lines; every line is one of these, told apart by ``type``.
Offsets are milliseconds on one monotonic clock since the header of the (first) process.
"""

from bench.model.footer import Footer
from bench.model.header import Header, Resumed
from bench.model.load import StageBegun, StageDone
from bench.model.steps import AttemptRefused, ShardClosed, ShardOpened, Started, TrialDone, TurnDone
from bench.model.surroundings import Gateway, Incident, Sample, Vantage

JournalRecord = (
    Header
    | Started
    | AttemptRefused
    | TurnDone
    | TrialDone
    | StageBegun
    | StageDone
    | Vantage
    | Incident
    | Gateway
    | Sample
    | ShardOpened
    | ShardClosed
    | Resumed
    | Footer
)
