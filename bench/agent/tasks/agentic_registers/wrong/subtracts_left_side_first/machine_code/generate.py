"""Code of formulas."""


def generate(tree, registers):
    program = []
    slots = iter(range(10_000))

    def needed(tree):
        if tree[0] in ("number", "name"):
            return 1
        left, right = needed(tree[1]), needed(tree[2])
        return left + 1 if left == right else max(left, right)

    def emit(tree, free):
        if tree[0] in ("number", "name"):
            program.append(["load", free[0], tree[1]])
            return
        name, left, right = tree
        first, second, *rest = free
        if needed(left) >= len(free) and needed(right) >= len(free):
            slot = next(slots)
            emit(right, free)
            program.append(["store", slot, first])
            emit(left, free)
            program.append(["fetch", second, slot])
        elif needed(left) >= needed(right) or (name == "sub" and len(free) > 2):
            emit(left, free)
            emit(right, [second, *rest])
        else:
            emit(right, [second, first, *rest])
            emit(left, [first, *rest])
        program.append([name, first, second])

    emit(tree, list(range(registers)))
    return program
