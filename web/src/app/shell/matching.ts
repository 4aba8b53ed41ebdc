/** Finds the entries that match a few typed letters, best first. */
export interface Named {
  label: string;
  words?: string;
}

/** Higher is better; null when the letters are not there in this order. */
export function score(typed: string, text: string): number | null {
  const wanted = typed.trim().toLowerCase();
  const offered = text.toLowerCase();
  if (!wanted) return 0;
  if (offered.startsWith(wanted)) return 100;
  const word = offered.search(new RegExp(`\\b${escaped(wanted)}`));
  if (word >= 0) return 80 - Math.min(word, 20);
  if (offered.includes(wanted)) return 50;
  let at = -1;
  let gaps = 0;
  for (const letter of wanted.replaceAll(/\s/g, "")) {
    const next = offered.indexOf(letter, at + 1);
    if (next < 0) return null;
    gaps += next - at - 1;
    at = next;
  }
  return Math.max(1, 30 - gaps);
}

export function matching<T extends Named>(typed: string, all: readonly T[]): T[] {
  return all
    .map((one, place) => ({
      one,
      place,
      rank: Math.max(score(typed, one.label) ?? -1, (score(typed, one.words ?? "") ?? -1) - 10),
    }))
    .filter(({ rank }) => rank >= 0)
    .sort((first, second) => second.rank - first.rank || first.place - second.place)
    .map(({ one }) => one);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
