"""One transfer."""

from bank.ops import read, write


def transfer(source, target, cents):
    """Move `cents` from `source` to `target`, see README.md."""
    balance = yield read(source)
    if cents > balance:
        return False
    yield write(source, balance - cents)
    balance = yield read(target)
    yield write(target, balance + cents)
    return True
