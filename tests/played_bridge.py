"""Plays the process that drives Ray: one load process that answers as its first order says.

usage: python played_bridge.py HOW FD
"""

import os
import signal
import socket
import sys
from typing import Any

import msgspec

from bench.cluster.words import (
    Close,
    FromBridge,
    Heard,
    Lost,
    Open,
    Place,
    Placed,
    Refused,
    Tell,
    ToBridge,
    frame,
)
from bench.model.fleet import Echo, Probe, decode_order, encode


def placed(number: int) -> Place:
    return Place(number=number, pid=os.getpid(), host="h", node="n", boot_id=None)


def words(line: socket.socket) -> Any:
    decoder = msgspec.msgpack.Decoder(ToBridge)
    with line.makefile("rb") as file:
        while size := file.read(4):
            yield decoder.decode(file.read(int.from_bytes(size, "big")))


def answer(how: str, word: ToBridge) -> FromBridge | None:
    match word:
        case Open() if how == "refuse":
            return Refused(message="no room", hint="ask for less")
        case Open() if how != "die":
            return Placed(places=tuple(map(placed, word.setups)))
        case Tell() if how != "die-later":
            order = decode_order(word.word)
            if isinstance(order, Probe):
                echo = encode(Echo(number=order.number, now_ns=1))
                return Heard(number=word.number, word=echo)
            return Lost(number=word.number, how="its node is gone")
        case _:
            return None


def main() -> None:
    how, line = sys.argv[1], socket.socket(fileno=int(sys.argv[2]))
    for word in words(line):
        if isinstance(word, Close) and how != "deaf":
            return
        said = answer(how, word)
        if said is None:
            os._exit(9)
        line.sendall(frame(said))
    while how == "deaf":
        signal.pause()


if __name__ == "__main__":
    main()
