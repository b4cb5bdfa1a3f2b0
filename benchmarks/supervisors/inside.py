"""One experiment, run as the only thing in its namespace. Prints one JSON object."""

import json
import sys

from benchmarks.supervisors import timing
from benchmarks.supervisors.scenarios import ENVIRONMENTS, SCENARIOS
from benchmarks.supervisors.stage import Stage
from benchmarks.supervisors.tools import OURS, TOOLS

_SAID_LIMIT = 4000


def main(tool_name: str, what: str) -> None:
    """Run one scenario, or one measurement, with one tool; ``none`` = the bare server."""
    tools = {one.name: one for one in TOOLS}
    fault, run = SCENARIOS.get(what, ("", None))
    stage = Stage(tools.get(tool_name, OURS), fault, ENVIRONMENTS.get(what))
    try:
        if run is not None:
            found = {**run(stage).as_dict(), "said": stage.said()[-_SAID_LIMIT:]}
        else:
            found = dict(timing.kept(stage) if tool_name in tools else timing.bare(stage))
        sys.stdout.write(json.dumps(found) + "\n")
    finally:
        stage.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
