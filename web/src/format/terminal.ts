/**
 * The lines that a terminal would show of a text: colours as names, overwritten progress bars gone,
 * other control sequences left out. `src/tapeline/terminal_text.py` does the same on the server;
 * one list of examples holds the two together.
 */
export interface Span {
  text: string;
  /** Words of `ansi-…` classes, such as "red bold"; empty for plain text. */
  look: string;
}

interface Style {
  colour: string;
  bold: boolean;
  faint: boolean;
}

/** In the order of the codes; the bits of an index are red, green and blue. */
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const PLAIN: Style = { colour: "", bold: false, faint: false };
const CHANGES: Record<number, Partial<Style>> = {
  0: PLAIN,
  1: { bold: true },
  2: { faint: true },
  22: { bold: false, faint: false },
  39: { colour: "" },
  90: { colour: "grey" },
};
const CODES = String.raw`\x1b\[([0-9;:]*)([ -/]*[@-~])|\x1b\[[0-?]*[ -/]*[@-~]?`;
const COMMANDS = String.raw`\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?`;
const OTHERS = String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f]|\n`;
const TOKEN = new RegExp(`${CODES}|${COMMANDS}|${OTHERS}|[^\\x00-\\x08\\n-\\x1f\\x7f-\\x9f]+`, "g");
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

export function terminalLines(text: string): Span[][] {
  const ended = text.replace(/\r?\n$/, "");
  if (!CONTROL.test(ended)) {
    return ended.split("\n").map((line) => (line ? [{ text: line, look: "" }] : []));
  }
  const screen = new Screen();
  for (const [token, codes, command] of ended.matchAll(TOKEN)) screen.take(token, codes, command);
  return screen.lines.map(joined);
}

export function plainText(line: readonly Span[]): string {
  return line.map(({ text }) => text).join("");
}

/** What a reader sees of a text, without colours: searches look here, as the server's do. */
export function shownText(text: string): string {
  return CONTROL.test(text) ? terminalLines(text).map(plainText).join("\n") : text;
}

class Screen {
  readonly lines: Span[][] = [[]];
  #style = PLAIN;
  #column = 0;

  take(token: string, codes: string | undefined, command: string | undefined): void {
    if (command === "m") this.#style = styled(this.#style, codes ?? "");
    else if (command === "K") this.#erase(codes ?? "");
    else if (token === "\n") {
      this.lines.push([]);
      this.#column = 0;
    } else if (token === "\r") this.#column = 0;
    else if (token === "\b") this.#column = Math.max(0, this.#column - 1);
    else if (!CONTROL.test(token)) this.#write(token);
  }

  #write(text: string): void {
    const line = this.#line();
    const look = lookOf(this.#style);
    for (const character of text) {
      line[this.#column] = { text: character, look };
      this.#column += 1;
    }
  }

  #erase(codes: string): void {
    const line = this.#line();
    if (codes === "" || codes === "0") line.length = Math.min(line.length, this.#column);
    else line.length = 0; // `joined` fills what is before the next character
  }

  #line(): Span[] {
    return this.lines[this.lines.length - 1] as Span[];
  }
}

function styled(before: Style, codes: string): Style {
  const numbers = codes.split(/[;:]/).map(Number);
  let style = before;
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, taken] = extended(numbers.slice(at + 1, at + 5));
      if (code === 38) style = { ...style, colour };
      at += taken;
    } else style = changed(style, code);
  }
  return style;
}

function changed(style: Style, code: number): Style {
  const isColour = (code >= 30 && code <= 37) || (code >= 91 && code <= 97);
  if (isColour) return { ...style, colour: COLOURS[code % 10] ?? "" };
  return { ...style, ...CHANGES[code] };
}

/** A colour of 256 or of 16 million as the nearest of eight, and how many numbers named it. */
function extended([kind, first = 0, green = 0, blue = 0]: number[]): [string, number] {
  if (kind === 2) return [nearest(first, green, blue), 4];
  return kind === 5 ? [indexed(first), 2] : ["", 0];
}

function indexed(index: number): string {
  if (index >= 232 || index === 8) return index >= 250 ? "white" : "grey";
  if (index < 16) return COLOURS[index % 8] ?? "";
  const level = (step: number) => (Math.floor((index - 16) / step) % 6) * 51;
  return nearest(level(36), level(6), level(1));
}

function nearest(red: number, green: number, blue: number): string {
  const half = Math.max(red, green, blue) / 2;
  const bits = (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
  return COLOURS[bits] ?? "";
}

function lookOf({ colour, bold, faint }: Style): string {
  return [colour, bold ? "bold" : "", faint ? "faint" : ""].filter(Boolean).join(" ");
}

/** Neighbours that look alike as one; columns that were never written are blank. */
function joined(cells: readonly (Span | undefined)[]): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at] ?? { text: " ", look: "" };
    const last = spans.at(-1);
    if (last && last.look === cell.look) last.text += cell.text;
    else spans.push({ ...cell });
  }
  return spans;
}
