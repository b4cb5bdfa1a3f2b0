"""Code of formulas."""


def generate(tree, registers):
    """Return instructions for `tree`, see README.md."""
    program = []

    def emit(tree, register):
        if register >= registers:
            raise ValueError("out of registers")
        if tree[0] in ("number", "name"):
            program.append(["load", register, tree[1]])
            return
        emit(tree[1], register)
        emit(tree[2], register + 1)
        program.append([tree[0], register, register + 1])

    emit(tree, 0)
    return program
