"""One transfer."""

from bank.ops import lock, read, unlock, write


def transfer(source, target, cents):
    if cents < 1:
        return False
    yield lock(source)
    balance = yield read(source)
    if cents > balance:
        yield unlock(source)
        return False
    yield write(source, balance - cents)
    yield unlock(source)
    yield lock(target)
    balance = yield read(target)
    yield write(target, balance + cents)
    yield unlock(target)
    return True
