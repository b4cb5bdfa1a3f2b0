"""`python -m bench`: the measuring commands, without the orchestrator."""

import sys

from bench.cli.entry import run
from bench.cli.group import cli

if __name__ == "__main__":
    sys.exit(run(cli, sys.argv[1:], prog_name="python -m bench"))
