import asyncio
import signal

import pytest

from bench.app.interrupting import interruption_text
from bench.model.trial import Response
from bench.runner import Control


async def _on_its_way() -> tuple[int, Response]:
    await asyncio.sleep(60)
    return 0, Response()


@pytest.mark.parametrize(
    ("flights", "number", "before", "said"),
    [
        pytest.param(
            2,
            signal.SIGINT,
            None,
            "interrupted: 2 requests in flight are being finished, nothing further is sent; "
            "a second Ctrl-C cancels them",
            id="ctrl-c",
        ),
        pytest.param(
            1,
            signal.SIGTERM,
            None,
            "interrupted: 1 request in flight is being finished, nothing further is sent; "
            "a second signal cancels it",
            id="sigterm",
        ),
        pytest.param(
            0,
            signal.SIGINT,
            None,
            "interrupted: nothing is in flight; the reports are written",
            id="between-two",
        ),
        pytest.param(
            1,
            signal.SIGINT,
            signal.SIGINT,
            "interrupted again: 1 request in flight is cancelled; the reports are written",
            id="twice",
        ),
    ],
)
def test_who_interrupts_reads_what_goes_on_and_how_to_end_that_too(flights, number, before, said):
    async def told():
        control = Control(signal_number=before)
        for number_of in range(flights):
            control.flights[str(number_of)] = asyncio.create_task(_on_its_way())
        try:
            return interruption_text(control, number)
        finally:
            control.cancel_flights()

    assert asyncio.run(told()) == said
