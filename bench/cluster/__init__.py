"""Load processes as actors of a Ray cluster (extra `ray`): the same words and shards as on one machine.

Ray is driven from a process of its own (`bench.cluster.bridge`): nothing else here imports it.
"""
