// A line against the specification.
export class BadLine extends Error {}

const FIELD = /\s*(?:"((?:[^"]|"")*)"|([^;"]*))\s*(;|$)/y;

export function fields(line) {
  if (line === "") return [];
  const found = [];
  FIELD.lastIndex = 0;
  for (;;) {
    const match = FIELD.exec(line);
    if (match === null) throw new BadLine(line);
    if (match[1] !== undefined) found.push(match[1].replaceAll('""', '"'));
    else found.push(match[2].trim() || null);
    if (match[3] === "") return found;
  }
}
