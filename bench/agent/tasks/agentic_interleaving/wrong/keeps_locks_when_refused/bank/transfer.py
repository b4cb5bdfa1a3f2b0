"""One transfer."""

from bank.ops import lock, read, unlock, write


def transfer(source, target, cents):
    if cents < 1:
        return False
    for account in sorted([source, target]):
        yield lock(account)
    balance = yield read(source)
    if cents > balance:
        return False
    yield write(source, balance - cents)
    received = yield read(target)
    yield write(target, received + cents)
    for account in (source, target):
        yield unlock(account)
    return True
