"""The program that walls a hostile program in, runs it, and clears everything away again.

A program of its own, standard library only, started as ``python -I -S`` for its short start: it
reads one order from standard input, and writes one result to standard output. While standard input
stays open the order stands; when it closes (whoever asked is gone, or gave up), everything ends.

``__main__`` (this machine's side: pipes, limits, clearing) forks ``inside`` (first process of the
walled side), which forks the hostile program. Nothing of ``bench`` is imported but this package.
"""
