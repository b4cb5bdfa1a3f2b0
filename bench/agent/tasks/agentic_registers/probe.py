from machine_code.generate import generate as make


def generate(given):
    return [list(instruction) for instruction in make(given["tree"], given["registers"])]
