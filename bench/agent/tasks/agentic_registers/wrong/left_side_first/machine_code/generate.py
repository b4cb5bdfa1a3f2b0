"""Code of formulas."""


def generate(tree, registers):
    program = []
    slots = iter(range(10_000))

    def emit(tree, register):
        if tree[0] in ("number", "name"):
            program.append(["load", register, tree[1]])
            return
        name, left, right = tree
        if register + 2 < registers or right[0] in ("number", "name"):
            emit(left, register)
            emit(right, register + 1)
        else:
            slot = next(slots)
            emit(right, register)
            program.append(["store", slot, register])
            emit(left, register)
            program.append(["fetch", register + 1, slot])
        program.append([name, register, register + 1])

    emit(tree, 0)
    return program
