"""One module for each carrier, with a function `quote(grams, zone)`."""
