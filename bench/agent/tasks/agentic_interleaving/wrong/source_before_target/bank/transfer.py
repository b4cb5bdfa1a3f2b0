"""One transfer."""

from bank.ops import lock, read, unlock, write


def transfer(source, target, cents):
    if cents < 1:
        return False
    yield lock(source)
    if target != source:
        yield lock(target)
    balance = yield read(source)
    enough = cents <= balance
    if enough and source != target:
        yield write(source, balance - cents)
        received = yield read(target)
        yield write(target, received + cents)
    yield unlock(source)
    if target != source:
        yield unlock(target)
    return enough
