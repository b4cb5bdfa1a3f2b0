from shop.invoice import invoice as make


def invoice(lines):
    return make(lines)
