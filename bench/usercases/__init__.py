"""A user's own cases: files of a folder, or what a Python function returns.

See docs/user-cases.md. Nothing here runs a request; a file only ever describes, a function is
code that its user named.
"""

from bench.usercases.entry_point import is_entry_point
from bench.usercases.loading import CaseFaults, ForeignCode, load_cases

__all__ = ["CaseFaults", "ForeignCode", "is_entry_point", "load_cases"]
