"""Puts the tools that are compared into ``.real/peers``, each release pinned and checked by hash."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROPS = Path(__file__).resolve().parent / "props"
PEERS = ROOT / ".real" / "peers"
NODE_BIN = PEERS / "node_modules" / ".bin"
PYTHON = PEERS / "python" / "bin" / "python"

_LOCKS = ("package.json", "package-lock.json", "peers.lock")


def install() -> None:
    """Install from the lock files, unless that was done already.

    Raises:
        subprocess.CalledProcessError: npm or pip said why not.
    """
    wanted = hashlib.sha256(b"".join((PROPS / name).read_bytes() for name in _LOCKS)).hexdigest()
    stamp = PEERS / ".installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    PEERS.mkdir(parents=True, exist_ok=True)
    for name in _LOCKS[:2]:
        shutil.copy(PROPS / name, PEERS / name)
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(npm, cwd=PEERS, check=True, stdout=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", str(PEERS / "python")], check=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", str(PROPS / "peers.lock")], check=True)
    stamp.write_text(wanted)
