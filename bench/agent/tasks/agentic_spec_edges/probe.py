from exchange.fields import fields as read


def fields(line):
    return read(line)
