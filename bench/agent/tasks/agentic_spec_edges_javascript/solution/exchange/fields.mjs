// Reads one line.

// A line against the specification.
export class BadLine extends Error {}

const QUOTED = / *"((?:[^"\\]|""|\\n|\\\\)*)" */y;
const PLAIN = /[^;"]*/y;
const MEANING = { '""': '"', "\\n": "\n", "\\\\": "\\" };

function matchAt(pattern, line, at) {
  pattern.lastIndex = at;
  return pattern.exec(line);
}

// The fields of `line`: text, or null. Throws BadLine where SPEC.md calls it an error.
export function fields(line) {
  if (line === "") return [];
  const found = [];
  let at = 0;
  for (;;) {
    const quoted = matchAt(QUOTED, line, at);
    const field = quoted ?? matchAt(PLAIN, line, at);
    at += field[0].length;
    if (quoted) found.push(quoted[1].replace(/""|\\n|\\\\/g, (escape) => MEANING[escape]));
    else found.push(field[0].replace(/^ +| +$/g, "") || null);
    if (at === line.length) return found;
    if (line[at] !== ";") throw new BadLine(line);
    at += 1;
  }
}
