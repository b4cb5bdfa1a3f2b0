from itertools import chain, cycle, islice

from bank.transfer import transfer


def run(given):
    """Return what happened in each turn: who, what, and what came of it; of a lock, whether it waits."""
    accounts = dict(given["accounts"])
    tasks = [transfer(*order) for order in given["transfers"]]
    done, waiting, answers, held, log = set(), {}, {}, set(), []
    rounds = islice(cycle(range(len(tasks))), given["patience"] * len(tasks))
    for index in chain(given["schedule"], rounds):
        if index in done:
            continue
        if index not in waiting:
            try:
                waiting[index] = list(tasks[index].send(answers.pop(index, None)))
            except StopIteration as end:
                done.add(index)
                log.append([index, "end", end.value])
                continue
        operation = waiting[index]
        name, account = operation[:2]
        if name == "lock" and account in held:
            log.append([index, "lock", account, True])
            continue
        del waiting[index]
        result = None
        if name == "read":
            result = answers[index] = accounts[account]
        elif name == "write":
            accounts[account] = operation[2]
        elif name == "lock":
            held.add(account)
            result = False
        elif name == "unlock":
            held.remove(account)
        log.append([index, *operation, result])
    return log
