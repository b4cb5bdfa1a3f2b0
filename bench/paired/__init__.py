"""Two arms measured in turn: plan, pairs, differences, verdicts. Pure; see docs/overhead.md.

`plan.paired_blocks` lays the blocks out, the ordinary runner measures them, `summary.paired_levels`
compares what the journal has of them.
"""
