"""`python -m bench`: the measuring commands, without the orchestrator."""

import sys

_INTERRUPTED = 130


def main() -> int:
    """Run the command that was typed and return its exit code."""
    try:
        from bench.cli.unseen import own_words

        words = own_words("bench")
        from bench.cli.entry import run
        from bench.cli.group import cli

        return run(cli, words, prog_name="python -m bench")
    except KeyboardInterrupt:  # while modules were loaded: nothing was done that could be told
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
