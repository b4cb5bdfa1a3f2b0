"""Which articles stand on a page, and which pages are offered."""


def page_count(total, size):
    """Return how many pages hold `total` articles at `size` on a page.

    No articles need no page. `size` is at least 1, else ValueError.
    """
    if size < 1:
        raise ValueError("size")
    return total // size


def page(articles, number, size):
    """Return the articles on page `number`, counted from 1; an empty list beyond the last page.

    A number below 1 is a ValueError.
    """
    if number < 1:
        raise ValueError("number")
    start = (number - 1) * size
    return articles[start : start + size]


def links(current, count, width):
    """Return the numbers of the pages to link, ascending.

    There are `width` of them, or `count` if that is less. `current` stands in the middle; with an
    even width one more stands before it than after. Where that would leave 1 to `count`, the
    whole row is shifted, not shortened.
    """
    first = max(1, current - width // 2)
    last = min(count, first + width - 1)
    return list(range(first, last + 1))
