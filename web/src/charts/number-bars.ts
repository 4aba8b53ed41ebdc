/** Where a bar lies beside its number, in percent of the width: from a zero line that all rows share. */

export interface Bar {
  left: number;
  width: number;
}

/** One bar for each value, to the left of zero for a negative one; null for an unknown value. */
export function barsOf(values: readonly (number | null)[]): (Bar | null)[] {
  const known = values.filter((value) => value !== null);
  const low = Math.min(0, ...known);
  const span = Math.max(0, ...known) - low;
  const zero = span > 0 ? (Math.abs(low) / span) * 100 : 0;
  return values.map((value) => {
    if (value === null) return null;
    const width = span > 0 ? (Math.abs(value) / span) * 100 : 0;
    return { left: value < 0 ? zero - width : zero, width };
  });
}
