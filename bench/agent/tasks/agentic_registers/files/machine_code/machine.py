"""Plays the machine."""


def run(program, registers, variables):
    """Return what is in register 0 at the end; IndexError where a register does not exist."""
    held, memory = [None] * registers, {}
    for name, first, second in program:
        if name == "load":
            held[first] = variables[second] if isinstance(second, str) else second
        elif name == "store":
            memory[first] = held[second]
        elif name == "fetch":
            held[first] = memory[second]
        elif name == "add":
            held[first] += held[second]
        elif name == "sub":
            held[first] -= held[second]
        elif name == "mul":
            held[first] *= held[second]
        else:
            raise ValueError(name)
    return held[0]
