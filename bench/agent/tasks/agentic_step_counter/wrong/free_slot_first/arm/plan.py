"""Plans for the arm."""


def plan(shelf, wanted):
    slots = list(shelf)
    home = wanted.index(None)
    steps = []

    def move(taken, free):
        slots[free], slots[taken] = slots[taken], None
        steps.append([taken, free])

    if slots[home] is not None:
        move(home, slots.index(None))
    for slot, label in enumerate(wanted):
        if slots[slot] == label:
            continue
        move(slot, home)
        free = slot
        while free != home:
            source = slots.index(wanted[free])
            move(source, free)
            free = source
    return steps
