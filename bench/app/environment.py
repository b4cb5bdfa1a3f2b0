"""Where a run is made: read once, at its start."""

import os
import platform
from contextlib import suppress

import bench
from bench.model.header import Environment


def environment() -> Environment:
    """Return this machine and these programs; what can't be read is ``None``."""
    load: tuple[float, float, float] | None = None
    with suppress(OSError):
        load = os.getloadavg()
    return Environment(
        tool_version=bench.__version__,
        python=platform.python_version(),
        host=platform.node(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cpu_count=os.cpu_count(),
        load_average=load,
    )
