"""Runs transfers, one operation at a time, in the order of a schedule."""

from itertools import chain, cycle, islice


class Stuck(Exception):
    """Nobody gets on."""


def run(accounts, transfers, schedule=()):
    """Run the generators `transfers` over `accounts`; return their results.

    `schedule` lists indices: whose turn it is. After its end they take turns.
    """
    count = len(transfers)
    results, waiting, answers, held = {}, {}, {}, set()
    turns = chain(schedule, islice(cycle(range(count)), 60 * count))
    for index in turns:
        if index in results:
            continue
        if index not in waiting:
            try:
                waiting[index] = transfers[index].send(answers.pop(index, None))
            except StopIteration as end:
                results[index] = end.value
                continue
        name, account, *value = waiting[index]
        if name == "lock" and account in held:
            continue
        del waiting[index]
        if name == "read":
            answers[index] = accounts[account]
        elif name == "write":
            accounts[account] = value[0]
        elif name == "lock":
            held.add(account)
        else:
            held.remove(account)
    if len(results) < count:
        raise Stuck(sorted(set(range(count)) - set(results)))
    return [results[index] for index in range(count)]
