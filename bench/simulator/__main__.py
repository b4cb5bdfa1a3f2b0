"""The command line of the simulator: ``python -m bench.simulator``."""

import argparse
import asyncio
import contextlib
import gc
import os
import resource
import secrets
import sys
from pathlib import Path

from bench import __version__
from bench.simulator.book import AnswerBook
from bench.simulator.errors import SimulatorError
from bench.simulator.fine_timer import fine_selector
from bench.simulator.request_log import RequestLog
from bench.simulator.server import Address, Server
from bench.simulator.service import Gateway, Settings

_MOST_FILES = 65_536
_LAST_PORT = 65_535
_LONGEST_DRAIN_S = 3600


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; return the exit status."""
    options = _parser().parse_args(argv)
    try:
        log = RequestLog(options.log)
        try:
            return _serve(options, log)
        finally:
            log.close()
    except SimulatorError as error:
        sys.stderr.write(f"error: {error.message}\n")
        if error.hint:
            sys.stderr.write(f"hint: {error.hint}\n")
        return error.exit_code


def _serve(options: argparse.Namespace, log: RequestLog) -> int:
    _raise_file_limit()
    settings = Settings(
        seed=options.seed,
        token=options.token,
        any_model=options.any_model,
        instance=secrets.token_hex(4),
    )
    gateway = Gateway(settings=settings, book=AnswerBook(options.book))

    async def serve() -> int:
        address = Address(host=options.host, port=options.port)
        return await Server(gateway, log).serve(address, drain_s=options.drain, ready=_say_ready)

    # What start-up made lives as long as the process; the collector need not look at it again.
    gc.collect()
    gc.freeze()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(fine_selector())) as runner:
        status = runner.run(serve())
    _say_losses(gateway.book, log)
    return status


def _say_losses(book: AnswerBook, log: RequestLog) -> None:
    """Name what went missing without stopping the streams."""
    if book.bad_lines:
        sys.stderr.write(f"warning: {book.bad_lines} lines of the answer book are no entries\n")
    if log.lost:
        sys.stderr.write(f"warning: {log.lost} records could not be written to the request log\n")


def _say_ready(address: Address) -> None:
    """Print the one line on stdout, which launchers wait for."""
    try:
        sys.stdout.write(f"simulator ready: {address.url} (pid {os.getpid()})\n")
        sys.stdout.flush()
    except OSError:
        # Nobody reads it: no reason to stop serving, nor for a fault when the interpreter flushes
        # what is left as its last act.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def _raise_file_limit() -> None:
    """Allow as many connections as the system lets us have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > _LAST_PORT:
        message = f"`{text}` is no port; 0 (any free one) to {_LAST_PORT}"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= _LONGEST_DRAIN_S:
        message = f"`{text}` is no time; 0 to {_LONGEST_DRAIN_S} seconds"
        raise argparse.ArgumentTypeError(message)
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.simulator",
        description="An OpenAI-compatible gateway that answers as told. All of it is simulated.",
        epilog="docs/simulator.md lists models, providers and the words of a scenario.",
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=_port, default=0, help="0 = a free one, printed (default: %(default)s)")
    add("--book", type=Path, metavar="PATH", help="answer book; read again as it grows")
    add("--log", type=Path, metavar="PATH", help="request log, JSON lines, appended")
    add("--seed", type=int, default=1, help="decides who is right on what (default: %(default)s)")
    add("--token", default="test-token", help="the key that is accepted (default: %(default)s)")
    add("--any-model", action="store_true", help="answer to unknown model names too")
    add(
        "--drain",
        type=_seconds,
        default=10.0,
        metavar="S",
        help="seconds that answers on their way get after SIGTERM (default: %(default)s)",
    )
    add("--version", action="version", version=f"gateway-bench simulator {__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
