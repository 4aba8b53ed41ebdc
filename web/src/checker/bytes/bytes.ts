/** Bytes as text and back, in the one form that records use. */

const encoder = new TextEncoder();
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const NOT_SIX = 64;
const FILLER = 0x3d; // =
const SIXES = new Uint8Array(128).fill(NOT_SIX);
for (let value = 0; value < ALPHABET.length; value++) SIXES[ALPHABET.charCodeAt(value)] = value;

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function concat(...parts: Uint8Array[]): Uint8Array {
  return joined(parts);
}

/** The same for any number of them: a call takes only some thousand arguments. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function equal(one: Uint8Array, other: Uint8Array): boolean {
  return compare(one, other) === 0;
}

/** By their bytes, a shorter one before its continuations. */
export function compare(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference) return difference;
  }
  return one.length - other.length;
}

export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += DIGITS[byte];
  return text;
}

/** Null if it is not lower-case hex. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at++) {
    const value = nibble(text.charCodeAt(at * 2)) * 16 + nibble(text.charCodeAt(at * 2 + 1));
    if (Number.isNaN(value)) return null;
    bytes[at] = value;
  }
  return bytes;
}

function nibble(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : Number.NaN;
}

/** Null if it is not what an encoder with padding would have written. */
export function fromBase64(text: string): Uint8Array | null {
  const bytes = utf8(text);
  return base64In(bytes, 0, bytes.length);
}

/** The same of a text that is a part of some bytes. */
export function base64In(text: Uint8Array, start: number, end: number): Uint8Array | null {
  const length = end - start;
  const filled = text[end - 1] !== FILLER ? 0 : text[end - 2] !== FILLER ? 1 : 2;
  const size = (length / 4) * 3 - filled;
  if (length % 4 || size < 0) return null;
  const bytes = new Uint8Array(size);
  let [bits, held, at] = [0, 0, 0];
  for (let place = start; place < end - filled; place++) {
    const value = SIXES[text[place] ?? 0] ?? NOT_SIX;
    if (value === NOT_SIX) return null;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = held >> bits;
  }
  // Bits that stand for nothing must be zero: otherwise two texts would mean the same.
  return held & ((1 << bits) - 1) ? null : bytes;
}
