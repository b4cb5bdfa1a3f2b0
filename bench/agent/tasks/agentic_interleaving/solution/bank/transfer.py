"""One transfer."""

from bank.ops import lock, read, unlock, write


def transfer(source, target, cents):
    """Move `cents` from `source` to `target`, see README.md.

    Locks are taken in the order of the accounts' names, so that no two transfers wait for each other.
    """
    if cents < 1:
        return False
    accounts = sorted({source, target})
    for account in accounts:
        yield lock(account)
    balance = yield read(source)
    enough = cents <= balance
    if enough and source != target:
        yield write(source, balance - cents)
        received = yield read(target)
        yield write(target, received + cents)
    for account in accounts:
        yield unlock(account)
    return enough
