"""Run programs behind the walls as whoever runs this: pickled orders in, pickled outcomes out.

A test that runs as root starts it as an ordinary user, with an interpreter that user may read.
"""

import pickle
import sys

from bench.sandbox.probing import find_out
from bench.sandbox.running import run_now

if __name__ == "__main__":
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            wanted = pickle.load(source)  # noqa: S301 - from the test
        except EOFError:
            break
        answer = find_out(run_now) if wanted is None else run_now(*wanted)
        pickle.dump(answer, sink)
        sink.flush()
