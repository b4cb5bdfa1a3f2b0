"""Load processes: how they are started, spoken to and ended, on this machine or on many."""
