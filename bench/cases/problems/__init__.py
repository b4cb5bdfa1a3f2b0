"""Fixed problems whose answers are computed: a solver, a wording and a likely slip in each file."""
