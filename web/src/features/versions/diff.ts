/** The difference between two texts, word by word. */
export interface Piece {
  text: string;
  change: "same" | "added" | "removed";
}

/** Words with the white space after them. */
const PROSE = /\S+\s*|^\s+/g;
/** Names, numbers, spaces and single signs. */
export const CODE = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

export function changes(before: string, after: string, words = PROSE): Piece[] {
  const [old, now] = [before.match(words) ?? [], after.match(words) ?? []];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end += 1;
  const pieces: Piece[] = [];
  put(pieces, old.slice(0, start).join(""), "same");
  for (const piece of between(
    old.slice(start, old.length - end),
    now.slice(start, now.length - end),
  ))
    put(pieces, piece.text, piece.change);
  put(pieces, old.slice(old.length - end).join(""), "same");
  return pieces;
}

/** By the longest common subsequence of words. */
function between(old: readonly string[], now: readonly string[]): Piece[] {
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => longest[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      longest[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pieces: Piece[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    if (row < old.length && column < now.length && old[row] === now[column]) {
      pieces.push({ text: old[row] ?? "", change: "same" });
      row += 1;
      column += 1;
    } else if (
      column >= now.length ||
      (row < old.length && at(row + 1, column) >= at(row, column + 1))
    ) {
      pieces.push({ text: old[row] ?? "", change: "removed" });
      row += 1;
    } else {
      pieces.push({ text: now[column] ?? "", change: "added" });
      column += 1;
    }
  }
  return pieces;
}

function put(pieces: Piece[], text: string, change: Piece["change"]): void {
  const last = pieces.at(-1);
  if (!text) return;
  if (last?.change === change) last.text += text;
  else pieces.push({ text, change });
}
