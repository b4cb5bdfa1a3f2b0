from parcels import quotes


def quote(given):
    return quotes.quote(given["carrier"], given["grams"], given["zone"])
