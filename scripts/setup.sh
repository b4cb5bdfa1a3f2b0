# Sourced by demo, test and check: make `.venv` once, install exactly what the lock names, reuse it afterwards.
# usage: . scripts/setup.sh; set_up requirements.lock

find_python() {
  for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "error: no Python 3.11 or newer found (tried python3, python3.11 to python3.14)" >&2
  echo "hint: install one, or name it: PYTHON=/path/to/python3 $0" >&2
  exit 2
}

# Args: lock file. A stamp in .venv holds what is installed, so that a second call takes no time.
set_up() {
  lock=$1
  wanted=$(cat "$lock" pyproject.toml | cksum)
  stamp=.venv/.installed-$lock
  if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    return
  fi
  if [ ! -x .venv/bin/python ]; then
    python=$(find_python) || exit 2
    echo "Creating .venv with $("$python" --version)" >&2
    "$python" -m venv .venv
  fi
  echo "Installing what $lock names (every package pinned and checked by hash)" >&2
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
  echo "$wanted" > "$stamp"
}
