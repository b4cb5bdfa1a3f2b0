"""Records of the benchmark: what a target, a case, a trial and a run are. No behaviour, no IO."""
