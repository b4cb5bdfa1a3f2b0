from arm.plan import plan as make


def plan(given):
    shelf, wanted = list(given["shelf"]), list(given["wanted"])
    steps = make(shelf, wanted)
    if shelf != given["shelf"] or wanted != given["wanted"]:
        return "the arguments were changed"
    return [list(step) for step in steps]
