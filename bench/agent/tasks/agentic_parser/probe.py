from calc.parser import ParseError, parse


def formula(text):
    try:
        return {"tree": parse(text)}
    except ParseError as error:
        return {"position": error.position}
