/** Checks the long lists of backtest results against the digests that were signed. */
import { concat, equal, hex, joined, utf8 } from "../bytes/bytes";
import type { Sha256 } from "../bytes/sha256";
import { type Piece, refuse } from "../lines/lines";
import { quoted } from "../lines/quoting";
import { Broken } from "./outcome";

const AS_TEXT = new Set(["account_values", "trades"]);
const NEVER_WRITTEN = "equity"; // the account values again
const NAN = new Uint8Array([0, 0, 0, 0, 0, 0, 0xf8, 0x7f]);

interface Begun {
  seq: number;
  name: string;
  pieces: Uint8Array[];
}

export class ResultLists {
  private readonly signed = new Map<number, Map<string, string>>();
  private readonly begun = new Map<string, Begun>();

  constructor(private readonly sha256: Sha256) {}

  /** A result names its lists by their digests. */
  expect(seq: number, body: Uint8Array): void {
    const said: unknown = JSON.parse(new TextDecoder().decode(body));
    const digests = isRecord(said) ? said.digests : null;
    if (!isRecord(digests)) refuse();
    const named = new Map<string, string>();
    for (const [name, digest] of Object.entries(digests)) {
      named.set(name, typeof digest === "string" ? digest : refuse());
    }
    this.signed.set(seq, named);
  }

  take(line: Piece): void {
    const { seq, list, piece } = line;
    if (!this.signed.get(seq)?.has(list)) {
      throw new Broken(
        seq,
        "list_unknown",
        `There is a list ${quoted(list)} that no result speaks of.`,
      );
    }
    const name = JSON.stringify([seq, list]);
    const begun = this.begun.get(name) ?? { seq, name: list, pieces: [] };
    if (piece !== begun.pieces.length) {
      throw new Broken(
        seq,
        "list_piece_missing",
        `A piece of the list ${quoted(list)} is missing.`,
      );
    }
    const sealed = asSealed(line);
    const content = AS_TEXT.has(list) ? sealed : doubles(sealed);
    begun.pieces.push(concat(utf8(`${piece},${line.first},`), this.sha256(content)));
    this.begun.set(name, begun);
  }

  /** How many lists there are, and how many are missing; throws if one is not what was signed. */
  complete(): [number, number] {
    for (const { seq, name, pieces } of this.begun.values()) {
      if (this.signed.get(seq)?.get(name) !== hex(this.sha256(joined(pieces)))) {
        const why = `The list ${quoted(name)} of the result is not what was signed.`;
        throw new Broken(seq, "list_wrong", why);
      }
    }
    const empty = hex(this.sha256());
    const named = [...this.signed].flatMap(([seq, lists]) =>
      [...lists].map(([name, digest]) => ({ seq, name, digest })),
    );
    const missing = named.filter(
      ({ seq, name, digest }) =>
        !this.begun.has(JSON.stringify([seq, name])) && name !== NEVER_WRITTEN && digest !== empty,
    );
    return [this.begun.size, missing.length];
  }
}

/** The bytes of a piece that its digest was made of. */
function asSealed(line: Piece): Uint8Array {
  if (line.sealed === null) return line.items;
  if (equal(compacted(line.sealed), line.items)) return line.sealed;
  const why = `The list ${quoted(line.list)} shows something else than what was signed.`;
  throw new Broken(line.seq, "list_shown_differently", why);
}

/** JSON without the whitespace between its parts. */
function compacted(content: Uint8Array): Uint8Array {
  const kept = new Uint8Array(content.length);
  let size = 0;
  let isText = false;
  for (let at = 0; at < content.length; at++) {
    const byte = content[at] ?? 0;
    if (!isText && (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d)) continue;
    if (byte === 0x22) isText = !isText;
    kept[size++] = byte;
    if (isText && byte === 0x5c) kept[size++] = content[++at] ?? 0;
  }
  return kept.subarray(0, size);
}

/** All times, then all values, in eight bytes each; NaN for null. */
function doubles(items: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(items);
  const list: unknown = JSON.parse(text, text.includes("-0") ? withoutMinusZero : undefined);
  if (!Array.isArray(list)) refuse();
  const packed = new Uint8Array(list.length * 16);
  const view = new DataView(packed.buffer);
  list.forEach((one: unknown, place) => {
    if (!isRecord(one) || !Object.values(one).every(isNumber)) refuse();
    const { time, value } = one;
    if (time === undefined || value === undefined) refuse();
    view.setFloat64(place * 8, Number(time), true);
    const at = (list.length + place) * 8;
    if (value === null) packed.set(NAN, at);
    else view.setFloat64(at, Number(value), true);
  });
  return packed;
}

/** The server reads `-0` as the integer zero, and `-0.0` as a double with a sign. */
function withoutMinusZero(_name: string, value: unknown, context?: { source?: string }): unknown {
  return Object.is(value, -0) && context?.source === "-0" ? 0 : value;
}

function isNumber(value: unknown): boolean {
  return value === null || (typeof value === "number" && Number.isFinite(value));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
