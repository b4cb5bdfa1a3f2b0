"""A small taxi office. Points are pairs of metres on a grid of streets."""
