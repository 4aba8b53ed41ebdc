/**
 * Reads one line of a record, byte by byte. A line that the server would not have written is
 * refused, so it says one thing only, to every checker. Values keep the text that was hashed:
 * `JSON.parse` would turn `1.0` into `1`.
 */
import { base64In } from "../bytes/bytes";
import { inLine } from "./numbers";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d] as const;
const MINUS = 0x2d;
const DEEPEST = 900;
const SHORT = 24; // bytes
const SHORT_ESCAPES = new Set([..."bfnrt"].map((one) => one.charCodeAt(0)));
const ESCAPES = new Set([...'bfnrt/\\"'].map((one) => one.charCodeAt(0)));
const WRITTEN_SHORT = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);
const loose = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** A line in another form than the server's. */
export class NotCanonical extends Error {}

export class Scanner {
  bytes: Uint8Array = new Uint8Array();
  at = 0;
  /** Whether a byte outside ASCII was met. */
  private wide = false;
  private lastWord = "";
  private lastDouble = 0;
  private lastSize = 0;
  private readonly lastBytes = new Uint8Array(32);

  /** Begin a line, which includes its newline. */
  open(line: Uint8Array): void {
    this.bytes = line;
    this.at = 0;
    this.wide = false;
  }

  /** The line must end here, and all of it must be UTF-8. */
  close(): void {
    if (this.bytes[this.at] !== 0x0a || this.at + 1 !== this.bytes.length) throw new NotCanonical();
    if (this.wide) requireUtf8(this.bytes);
  }

  isNext(text: string, at = this.at): boolean {
    const bytes = this.bytes;
    for (let place = 0; place < text.length; place++) {
      if (bytes[at + place] !== text.charCodeAt(place)) return false;
    }
    return true;
  }

  skip(text: string): void {
    if (!this.isNext(text)) throw new NotCanonical();
    this.at += text.length;
  }

  /** Whether it was there. */
  skipIf(text: string): boolean {
    const found = this.isNext(text);
    if (found) this.at += text.length;
    return found;
  }

  since(start: number): Uint8Array {
    return this.bytes.subarray(start, this.at);
  }

  /** ASCII only. */
  plain(start: number, end: number): string {
    let text = "";
    for (let at = start; at < end; at++) text += String.fromCharCode(this.bytes[at] ?? 0);
    return text;
  }

  count(): number {
    const found = this.integer();
    if (found < 0 || found > Number.MAX_SAFE_INTEGER) throw new NotCanonical();
    return found;
  }

  integer(): number {
    const start = this.at;
    if (this.bytes[this.at] === MINUS) this.at++;
    const first = this.at;
    let value = 0;
    while (isDigit(this.bytes[this.at])) value = value * 10 + (this.bytes[this.at++] ?? 0) - 0x30;
    const isZero = this.bytes[first] === 0x30;
    if (this.at === first || (isZero && this.at - start > 1)) throw new NotCanonical();
    return first > start ? -value : value;
  }

  /** Events that arrived together have the same times, so the last one is not computed again. */
  double(): number {
    const start = this.at;
    this.number();
    const size = this.at - start;
    if (size === this.lastSize && this.isLast(start)) return this.lastDouble;
    const text = this.plain(start, this.at);
    const value = Number(text);
    if (!Number.isFinite(value) || inLine(value) !== text) throw new NotCanonical();
    this.lastDouble = value;
    this.lastSize = size; // at most 25, now that it is canonical
    for (let at = 0; at < this.lastSize; at++) this.lastBytes[at] = this.bytes[start + at] ?? 0;
    return value;
  }

  private isLast(start: number): boolean {
    for (let at = 0; at < this.lastSize; at++) {
      if (this.bytes[start + at] !== this.lastBytes[at]) return false;
    }
    return true;
  }

  /** The text of a string with its quotes, as it stands; escaped only where it must be. */
  quoted(): Uint8Array {
    const start = this.at;
    this.string(true);
    return this.since(start);
  }

  text(): string {
    return textOf(this.quoted());
  }

  /** A string without anything to escape, such as a name of ours. */
  word(): string {
    const start = this.at;
    this.string(true);
    return this.plain(start + 1, this.at - 1);
  }

  /** The same where most lines have the word of the line before: then it is the very same text. */
  repeatedWord(): string {
    const known = this.lastWord;
    if (this.bytes[this.at] === QUOTE && this.isNext(known, this.at + 1)) {
      const end = this.at + known.length + 1;
      if (this.bytes[end] === QUOTE) {
        this.at = end + 1;
        return known;
      }
    }
    this.lastWord = this.word();
    return this.lastWord;
  }

  /** 64 digits. */
  hash(): string {
    const word = this.word();
    if (!/^[0-9a-f]{64}$/.test(word)) throw new NotCanonical();
    return word;
  }

  base64(): Uint8Array {
    const start = this.at;
    this.string(true);
    const found = base64In(this.bytes, start + 1, this.at - 1);
    if (found === null) throw new NotCanonical();
    return found;
  }

  /** Every item of a list, by what reads one. */
  list<Item>(item: () => Item): Item[] {
    const found: Item[] = [];
    this.skip("[");
    if (this.skipIf("]")) return found;
    do found.push(item());
    while (this.skipIf(","));
    this.skip("]");
    return found;
  }

  /** Every entry of an object; no name twice. */
  entries(entry: (name: Uint8Array) => void): void {
    const names = new Set<string>();
    this.skip("{");
    if (this.skipIf("}")) return;
    do {
      const name = this.quoted();
      const known = names.size;
      if (names.add(textOf(name)).size === known) throw new NotCanonical();
      this.skip(":");
      entry(name);
    } while (this.skipIf(","));
    this.skip("}");
  }

  orNull<Value>(value: () => Value): Value | null {
    return this.skipIf("null") ? null : value();
  }

  /** Any JSON value, in whatever form it was hashed. */
  raw(): Uint8Array {
    const start = this.at;
    this.value(0);
    return this.since(start);
  }

  private value(depth: number): void {
    if (depth > DEEPEST) throw new NotCanonical();
    const byte = this.bytes[this.at];
    if (byte === QUOTE) this.string(false);
    else if (byte === OPEN) this.members(CLOSE, depth);
    else if (byte === OPEN_LIST) this.members(CLOSE_LIST, depth);
    else if (byte === MINUS || isDigit(byte)) this.number();
    else if (!(this.skipIf("null") || this.skipIf("true") || this.skipIf("false"))) {
      throw new NotCanonical();
    }
  }

  private members(close: number, depth: number): void {
    this.at++;
    this.space();
    if (this.bytes[this.at] === close) {
      this.at++;
      return;
    }
    for (;;) {
      if (close === CLOSE) this.name();
      this.value(depth + 1);
      this.space();
      const byte = this.bytes[this.at++];
      if (byte === close) return;
      if (byte !== COMMA) throw new NotCanonical();
      this.space();
    }
  }

  private name(): void {
    this.string(false);
    this.space();
    if (this.bytes[this.at++] !== COLON) throw new NotCanonical();
    this.space();
  }

  private space(): void {
    let byte = this.bytes[this.at];
    while (byte === 0x20 || byte === 0x09 || byte === 0x0d) byte = this.bytes[++this.at];
  }

  private number(): void {
    if (this.bytes[this.at] === MINUS) this.at++;
    if (this.bytes[this.at] === 0x30) this.at++;
    else this.digits();
    if (this.bytes[this.at] === 0x2e) {
      this.at++;
      this.digits();
    }
    const byte = this.bytes[this.at];
    if (byte === 0x65 || byte === 0x45) {
      const sign = this.bytes[++this.at];
      if (sign === 0x2b || sign === MINUS) this.at++;
      this.digits();
    }
  }

  private digits(): void {
    const start = this.at;
    while (isDigit(this.bytes[this.at])) this.at++;
    if (this.at === start) throw new NotCanonical();
  }

  private string(canonical: boolean): void {
    const bytes = this.bytes;
    if (bytes[this.at] !== QUOTE) throw new NotCanonical();
    let at = this.at + 1;
    for (;;) {
      const byte = bytes[at];
      if (byte === undefined || byte < 0x20) throw new NotCanonical();
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        this.at = at;
        this.escape(canonical);
        at = this.at;
        continue;
      }
      if (byte > 0x7f) this.wide = true;
      at++;
    }
    this.at = at + 1;
  }

  private escape(canonical: boolean): void {
    const next = this.bytes[this.at + 1] ?? 0;
    if (next === 0x75) {
      this.unicode(canonical);
      return;
    }
    const known = next === QUOTE || next === BACKSLASH || SHORT_ESCAPES.has(next);
    if (canonical ? !known : !ESCAPES.has(next)) throw new NotCanonical();
    this.at += 2;
  }

  private unicode(canonical: boolean): void {
    const code = this.codeUnit();
    const isControl = code < 0x20 && !WRITTEN_SHORT.has(code);
    if (canonical) {
      const written = this.plain(this.at - 4, this.at);
      if (!isControl || written !== written.toLowerCase()) throw new NotCanonical();
    }
    if (code >= 0xdc00 && code < 0xe000) throw new NotCanonical();
    if (code < 0xd800 || code >= 0xe000) return;
    const low = this.codeUnit();
    if (low < 0xdc00 || low >= 0xe000) throw new NotCanonical();
  }

  private codeUnit(): number {
    this.skip("\\u");
    const text = this.plain(this.at, this.at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(text)) throw new NotCanonical();
    this.at += 4;
    return Number.parseInt(text, 16);
  }
}

/** Bytes as a text; a decoder takes longer than the few of them that most values have. */
export function asText(bytes: Uint8Array): string {
  if (bytes.length > SHORT) return loose.decode(bytes);
  let text = "";
  for (const byte of bytes) {
    if (byte > 0x7f) return loose.decode(bytes);
    text += String.fromCharCode(byte);
  }
  return text;
}

/** The text that a string in quotes stands for. */
export function textOf(quoted: Uint8Array): string {
  const text = asText(quoted);
  return text.includes("\\") ? String(JSON.parse(text)) : text.slice(1, -1);
}

function requireUtf8(bytes: Uint8Array): void {
  try {
    strict.decode(bytes);
  } catch {
    throw new NotCanonical();
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
