"""What a gateway adds: what an overhead run says beside the comparison of its two arms. Pure.

The comparison itself, and everything shared with build against build, is `bench.paired`.
"""
