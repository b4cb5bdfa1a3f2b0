"""`python -m bench.cluster FD`: drive Ray for the process at the other end of an inherited socket."""

import asyncio
import socket
import sys


def main() -> int:
    """Work until the leader says so or is gone."""
    from bench.cluster.bridge import serve

    asyncio.run(serve(socket.socket(fileno=int(sys.argv[1]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
