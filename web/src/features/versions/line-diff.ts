/**
 * The difference between two texts, line by line. The work is limited, because the files may be
 * anybody's: texts that differ too much are shown as one text instead of the other.
 */
export interface Line {
  change: "same" | "added" | "removed";
  /** Its number in the earlier text; null for an added line. */
  before: number | null;
  /** Its number in the later text; null for a removed line. */
  now: number | null;
  text: string;
}

export interface LineDiff {
  lines: Line[];
  added: number;
  removed: number;
  /** Whether lines that are in both texts may be shown as removed and added. */
  isRough: boolean;
}

/** Unchanged lines that are not shown. */
export interface Fold {
  from: number;
  count: number;
}

/** Two lines side by side. */
export interface Pair {
  left: Line | null;
  right: Line | null;
}

const MOST_EDITS = 1_500;
const MOST_STEPS = 3_000_000;
const CONTEXT = 3;

export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export function lineDiff(before: string, now: string): LineDiff {
  const [old, fresh] = [linesOf(before), linesOf(now)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (
    end < Math.min(old.length, fresh.length) - start &&
    old[old.length - 1 - end] === fresh[fresh.length - 1 - end]
  )
    end += 1;
  const middle = [old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)];
  const kept = matches(...(middle as [string[], string[]]));
  const lines: Line[] = [];
  let [at, to] = [0, 0];
  const same = (text: string) => {
    at += 1;
    to += 1;
    lines.push({ change: "same", before: at, now: to, text });
  };
  /** Everything up to a pair of equal lines: first what was removed, then what was added. */
  const change = (until: number, arriving: number) => {
    while (at < until)
      lines.push({ change: "removed", before: at + 1, now: null, text: old[at++] ?? "" });
    while (to < arriving)
      lines.push({ change: "added", before: null, now: to + 1, text: fresh[to++] ?? "" });
  };
  for (const text of old.slice(0, start)) same(text);
  for (const [row, column] of kept ?? []) {
    change(start + row, start + column);
    same(old[start + row] ?? "");
  }
  change(old.length - end, fresh.length - end);
  for (const text of old.slice(old.length - end)) same(text);
  const count = (kind: Line["change"]) => lines.filter((line) => line.change === kind).length;
  return { lines, added: count("added"), removed: count("removed"), isRough: kept === null };
}

/**
 * The pairs of equal lines on the shortest way from one text to the other (Myers); null if it is
 * longer than anybody would read.
 */
function matches(old: readonly string[], now: readonly string[]): [number, number][] | null {
  const [rows, columns] = [old.length, now.length];
  const most = Math.min(rows + columns, MOST_EDITS);
  const furthest = new Int32Array(2 * most + 3);
  const middle = most + 1;
  const trace: Int32Array[] = [];
  let steps = 0;
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(furthest.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const left = furthest[middle + diagonal - 1] ?? 0;
      const above = furthest[middle + diagonal + 1] ?? 0;
      const goesDown = diagonal === -edits || (diagonal !== edits && left < above);
      let row = goesDown ? above : left + 1;
      while (row < rows && row - diagonal < columns && old[row] === now[row - diagonal]) {
        row += 1;
        steps += 1;
      }
      furthest[middle + diagonal] = row;
      steps += 1;
      if (row >= rows && row - diagonal >= columns) return back(trace, rows, columns);
    }
    if (steps > MOST_STEPS) return null;
  }
  return null;
}

function back(trace: readonly Int32Array[], rows: number, columns: number): [number, number][] {
  const pairs: [number, number][] = [];
  let [row, column] = [rows, columns];
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const furthest = trace[edits];
    const at = (diagonal: number) => furthest?.[diagonal + edits + 1] ?? 0;
    const diagonal = row - column;
    const goesDown =
      diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));
    const from = goesDown ? diagonal + 1 : diagonal - 1;
    const earlier = edits === 0 ? 0 : at(from);
    const until = edits === 0 ? 0 : goesDown ? earlier : earlier + 1;
    while (row > until) {
      row -= 1;
      column -= 1;
      pairs.push([row, column]);
    }
    [row, column] = [earlier, earlier - from];
  }
  return pairs.reverse();
}

/** The lines around changes; what lies between them is folded, unless it was opened. */
export function folded(lines: readonly Line[], opened: ReadonlySet<number>): (Line | Fold)[] {
  const near = new Uint8Array(lines.length);
  lines.forEach(({ change }, at) => {
    if (change !== "same") near.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const shown: (Line | Fold)[] = [];
  for (let at = 0; at < lines.length; ) {
    let until = at;
    while (until < lines.length && near[until] === 0) until += 1;
    const count = until - at;
    // A single line takes no more room than the sentence that would hide it.
    if (count > 1 && !opened.has(at)) shown.push({ from: at, count });
    else for (const line of lines.slice(at, until)) shown.push(line);
    at = until;
    while (at < lines.length && near[at] === 1) shown.push(lines[at++] as Line);
  }
  return shown;
}

/** Removed lines beside the added lines that took their place. */
export function paired(shown: readonly (Line | Fold)[]): (Pair | Fold)[] {
  const rows: (Pair | Fold)[] = [];
  for (let at = 0; at < shown.length; ) {
    const one = shown[at];
    if (one === undefined) break;
    if ("count" in one) rows.push(one);
    else if (one.change === "same") rows.push({ left: one, right: one });
    else {
      const removed = run(shown, at, "removed");
      const added = run(shown, at + removed.length, "added");
      for (let row = 0; row < Math.max(removed.length, added.length); row += 1)
        rows.push({ left: removed[row] ?? null, right: added[row] ?? null });
      at += removed.length + added.length;
      continue;
    }
    at += 1;
  }
  return rows;
}

function run(shown: readonly (Line | Fold)[], from: number, change: Line["change"]): Line[] {
  const found: Line[] = [];
  for (let at = from; at < shown.length; at += 1) {
    const one = shown[at];
    if (one === undefined || "count" in one || one.change !== change) break;
    found.push(one);
  }
  return found;
}
