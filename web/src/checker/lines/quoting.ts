/** Texts from a record in sentences about it: nothing in them can look like a sentence of ours. */

const LONGEST = 80; // characters
const WORD = /^[A-Za-z0-9_.:/@+#-]{1,80}$/;
const UNSEEN = /^[\p{C}\p{Z}]$/u;

/**
 * A plain word as it is, anything else in quotes: line breaks and characters that cannot be seen
 * by their code, and no more than the beginning of a long text.
 */
export function quoted(text: string): string {
  if (WORD.test(text)) return text;
  const characters = [...text];
  const more = characters.length > LONGEST ? "…" : "";
  return `"${characters.slice(0, LONGEST).map(shown).join("")}${more}"`;
}

function shown(character: string): string {
  if (character === '"' || character === "\\") return `\\${character}`;
  if (character === " " || !UNSEEN.test(character)) return character;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
