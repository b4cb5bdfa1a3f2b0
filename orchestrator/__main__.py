"""`python -m orchestrator` is `gateway-bench`."""

from orchestrator.cli import main

if __name__ == "__main__":
    main()
