/** Lengths of time as rules write them: seconds, or "90s", "10m", "2h", "1d". */
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Null for what is no length of time. */
export function secondsOf(written: string | number | null | undefined): number | null {
  if (typeof written === "number") return Number.isFinite(written) ? written : null;
  const found = /^\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*$/.exec((written ?? "").toLowerCase());
  if (!found) return null;
  return Number(found[1]) * (UNITS[found[2] ?? ""] ?? 1);
}

/** As a person would write it, for a field. */
export function lengthText(written: string | number | null | undefined): string {
  if (typeof written !== "number") return written ?? "";
  for (const unit of ["d", "h", "m"] as const) {
    const size = UNITS[unit] ?? 1;
    if (written >= size && written % size === 0) return `${written / size}${unit}`;
  }
  return written ? `${written}s` : "";
}
