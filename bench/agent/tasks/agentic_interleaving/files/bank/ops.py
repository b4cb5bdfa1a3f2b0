"""What a transfer may yield."""


def read(account):
    """Ask for the balance of `account` in cents."""
    return ["read", account]


def write(account, cents):
    """Set the balance of `account`."""
    return ["write", account, cents]


def lock(account):
    """Take the lock of `account`; waits while it is held."""
    return ["lock", account]


def unlock(account):
    """Give the lock of `account` back."""
    return ["unlock", account]
