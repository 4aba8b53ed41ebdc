/**
 * Light colours for source: comments, texts, numbers and words of the language. Not a parser: it
 * knows just enough to help reading, takes time in proportion to the text, and never hides anything.
 */
export type Tone = "plain" | "comment" | "text" | "number" | "word" | "hidden";

export interface Piece {
  text: string;
  tone: Tone;
}

export type Language = "python" | "json" | "hash" | "plain";

const LANGUAGES: Record<string, Language> = {
  py: "python",
  pyi: "python",
  json: "json",
  toml: "hash",
  yaml: "hash",
  yml: "hash",
  ini: "hash",
  cfg: "hash",
  sh: "hash",
};
const WORDS = new Set(
  (
    "False None True and as assert async await break case class continue def del elif else except " +
    "finally for from global if import in is lambda match nonlocal not or pass raise return try " +
    "while with yield"
  ).split(" "),
);
const VALUES = new Set(["true", "false", "null"]);
const TOKENS =
  /'''|"""|#|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|(?<![\w.])\d[\w.]*|[\p{L}_][\p{L}\p{N}_]*/gu;
/** Controls, and marks that change or hide what a reader sees: a line must not lie. */
const HIDDEN = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/u;

export function languageOf(path: string): Language {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (/^requirements.*\.txt$/.test(name)) return "hash";
  return LANGUAGES[name.slice(name.lastIndexOf(".") + 1)] ?? "plain";
}

/** The quotes of the text that goes on from the line before, or none. */
export type Quotes = "" | "'''" | '"""';

/** For each line, the long text that it begins in. */
export function continued(lines: readonly string[], language: Language): Quotes[] {
  let inside: Quotes = "";
  return lines.map((line) => {
    const before = inside;
    if (language === "python") inside = scan(line, language, inside).inside;
    return before;
  });
}

export function coloured(line: string, language: Language, inside: Quotes): Piece[] {
  return scan(line, language, inside).pieces.flatMap(revealed);
}

/** Characters that cannot be seen, by their names. */
export function revealed({ text, tone }: Piece): Piece[] {
  if (!HIDDEN.test(text)) return [{ text, tone }];
  const pieces: Piece[] = [];
  let plain = "";
  for (const one of text) {
    if (!HIDDEN.test(one)) {
      plain += one;
      continue;
    }
    if (plain) pieces.push({ text: plain, tone });
    plain = "";
    const code = one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    pieces.push({ text: `U+${code}`, tone: "hidden" });
  }
  if (plain) pieces.push({ text: plain, tone });
  return pieces;
}

function scan(line: string, language: Language, from: Quotes): { pieces: Piece[]; inside: Quotes } {
  if (language === "plain") return { pieces: [{ text: line, tone: "plain" }], inside: "" };
  const pieces: Piece[] = [];
  let [at, inside] = [0, from];
  const put = (until: number, tone: Tone) => {
    if (until > at) pieces.push({ text: line.slice(at, until), tone });
    at = until;
  };
  while (at < line.length) {
    if (inside) {
      const end = line.indexOf(inside, at);
      put(end < 0 ? line.length : end + 3, "text");
      if (end >= 0) inside = "";
      continue;
    }
    TOKENS.lastIndex = at;
    const found = TOKENS.exec(line);
    if (!found) break;
    const [token] = found;
    put(found.index, "plain");
    if (token === "#" && language !== "json") put(line.length, "comment");
    else if ((token === "'''" || token === '"""') && language === "python") {
      put(at + 3, "text");
      inside = token;
    } else put(at + token.length, toneOf(token, language));
  }
  put(line.length, "plain");
  return { pieces, inside };
}

function toneOf(token: string, language: Language): Tone {
  if (token[0] === '"' || token[0] === "'") return "text";
  if (/^\d/.test(token)) return "number";
  const words = language === "python" ? WORDS : VALUES;
  return words.has(token) ? "word" : "plain";
}
