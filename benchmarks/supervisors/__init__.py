"""The same faults for other supervisors and for ours: what each did, and how long it took."""
