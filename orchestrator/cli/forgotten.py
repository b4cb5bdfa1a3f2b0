"""The process that minds a gateway with a time to live or an idle time: started by its script."""

from orchestrator import minding
from orchestrator.app import machine_at
from orchestrator.lifecycle import Machine
from orchestrator.records import TEARDOWN, GatewayRecord


def mind(root: str, instance_id: str) -> None:
    """Mind one gateway until it is gone.

    Args:
        root: The state folder.
        instance_id: Of the gateway.
    """
    here = machine_at(root)
    minding.mind(here, instance_id, tidy=lambda record: _tidy(here, record))


def _tidy(here: Machine, record: GatewayRecord) -> None:
    """Run its teardown as `stop` does; without one nothing more is imported."""
    if TEARDOWN not in record.labels:
        return
    from bench.cli.console import Console
    from orchestrator.cli.stop import run_recorded_teardown

    run_recorded_teardown(here, record, Console())
