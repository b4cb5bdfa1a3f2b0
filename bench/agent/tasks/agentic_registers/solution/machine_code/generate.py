"""Code of formulas."""


def generate(tree, registers):
    """Return instructions for `tree`, see README.md.

    The side that needs more registers goes first, so that its single result waits while the other
    is computed. Where both need all of them, the right side is computed and stored meanwhile.
    """
    program = []
    slots = iter(range(10_000))

    def needed(tree):
        """Return how many registers `tree` needs to go without memory, at most all of them."""
        if tree[0] in ("number", "name"):
            return 1
        left, right = needed(tree[1]), needed(tree[2])
        return min(registers, left + 1 if left == right else max(left, right))

    def emit(tree, free):
        """Leave the value of `tree` in the first of the registers `free`."""
        if tree[0] in ("number", "name"):
            program.append(["load", free[0], tree[1]])
            return
        name, left, right = tree
        first, second, *rest = free
        left_needs, right_needs = needed(left), needed(right)
        if left_needs == right_needs == registers:
            slot = next(slots)
            emit(right, free)
            program.append(["store", slot, first])
            emit(left, free)
            program.append(["fetch", second, slot])
        elif left_needs >= right_needs:
            emit(left, free)
            emit(right, [second, *rest])
        else:
            emit(right, [second, first, *rest])
            emit(left, [first, *rest])
        program.append([name, first, second])

    emit(tree, list(range(registers)))
    return program
