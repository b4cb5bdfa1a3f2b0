"""`python -m bench`: the measuring commands, without the orchestrator."""

import sys

from bench.cli.unseen import own_words


def main() -> int:
    """Run the command that was typed and return its exit code."""
    words = own_words("bench")
    from bench.cli.entry import run
    from bench.cli.group import cli

    return run(cli, words, prog_name="python -m bench")


if __name__ == "__main__":
    sys.exit(main())
