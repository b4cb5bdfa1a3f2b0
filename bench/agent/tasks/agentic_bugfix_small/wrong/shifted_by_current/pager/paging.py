"""Which articles stand on a page, and which pages are offered."""


def page_count(total, size):
    if size < 1:
        raise ValueError("size")
    return -(-total // size)


def page(articles, number, size):
    if number < 1:
        raise ValueError("number")
    start = (number - 1) * size
    return articles[start : start + size]


def links(current, count, width):
    first = max(1, current - width // 2)
    if current == count:
        first = count - width + 1
    last = min(count, first + width - 1)
    return list(range(first, last + 1))
