// The digests of the cases on CPython compiled to WebAssembly: another version, 32 bits, another C library.
// node digests.mjs FOLDER_OF_PYODIDE ROOT
import path from "node:path";

const [, , pyodide, root] = process.argv;
const { loadPyodide } = await import(path.join(pyodide, "pyodide.mjs"));
const python = await loadPyodide({ indexURL: pyodide });
python.FS.mkdirTree("/root");
python.FS.mount(python.FS.filesystems.NODEFS, { root }, "/root");
const told = await python.runPythonAsync(`
import json, platform, struct, sys
sys.path[:0] = ["/root/tests/real/pyodide", "/root"]
from tests.case_digests import as_text
json.dumps({"python": platform.python_version(), "machine": platform.machine(),
            "bits": 8 * struct.calcsize("P"), "digests": json.loads(as_text())})
`);
console.log(told);
