"""Logs that nobody watches are capped by whoever comes by, on a fake machine."""

from pathlib import Path

from orchestrator.capping import cap_logs
from orchestrator.lifecycle import find_all
from orchestrator.records import GatewayRecord
from tests.unit.orchestrator.test_strays import an_hour_old


def test_the_log_of_every_gateway_on_record_is_looked_at_and_no_other():
    fake = an_hour_old()
    recorded = [one for one in find_all(fake.ports) if isinstance(one, GatewayRecord)]
    assert recorded
    fake.state.files["0a1b2c3d.json"] = b"{half"
    cap_logs(fake.ports)
    assert fake.log.guarded == [Path(one.log) for one in recorded]
