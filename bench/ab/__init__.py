"""Two gateways held against each other: gates, verdicts, what each used. Pure; see docs/ab.md."""
