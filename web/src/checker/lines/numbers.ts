/** Numbers as the server writes them: in a line of a record, and in a signed statement. */

/** In a line: the shortest decimal text of the double, with `.0` if it is whole. */
export function inLine(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-5)) return value.toExponential().replace("e+", "e");
  return decimal(value);
}

/** In a statement: the same digits, with the exponent as Python's `repr` has it. */
export function inStatement(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return decimal(value);
}

function decimal(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const text = String(value);
  return Number.isInteger(value) ? `${text}.0` : text;
}
