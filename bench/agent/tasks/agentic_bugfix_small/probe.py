from pager import paging


def page_count(given):
    return paging.page_count(given["total"], given["size"])


def page(given):
    return paging.page(given["articles"], given["number"], given["size"])


def links(given):
    return paging.links(given["current"], given["count"], given["width"])
