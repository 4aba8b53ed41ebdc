/** Reads DER, the form of certificates and time stamps: as much of it as a check needs. */

export const [INTEGER, BITS, OCTETS, OID, SEQUENCE, SET] = [0x02, 0x03, 0x04, 0x06, 0x30, 0x31];
const [UTC_TIME, GENERAL_TIME] = [0x17, 0x18];

/** Bytes that are not what they should be. */
export class Malformed extends Error {}

export class Der {
  private constructor(
    readonly tag: number,
    /** With tag and length. */
    readonly raw: Uint8Array,
    readonly content: Uint8Array,
  ) {}

  /** One value, which must be all there is. */
  static read(bytes: Uint8Array): Der {
    const found = Der.first(bytes);
    if (found.raw.length !== bytes.length) throw new Malformed();
    return found;
  }

  private static first(bytes: Uint8Array): Der {
    const [tag, short] = bytes;
    if (tag === undefined || short === undefined || (tag & 0x1f) === 0x1f) throw new Malformed();
    const more = short < 0x80 ? 0 : short - 0x80;
    if (more > 4 || short === 0x80) throw new Malformed();
    let length = more ? 0 : short;
    for (let at = 2; at < 2 + more; at++) length = length * 256 + (bytes[at] ?? 0);
    const start = 2 + more;
    if (start + length > bytes.length) throw new Malformed();
    return new Der(tag, bytes.subarray(0, start + length), bytes.subarray(start, start + length));
  }

  get children(): Der[] {
    const found: Der[] = [];
    for (let rest = this.content; rest.length; rest = rest.subarray(found.at(-1)?.raw.length)) {
      found.push(Der.first(rest));
    }
    return found;
  }

  /** The child at a place, which must have this tag. */
  at(place: number, tag: number): Der {
    const found = this.children[place];
    if (found?.tag !== tag) throw new Malformed();
    return found;
  }

  /** The first child with a tag. */
  tagged(tag: number): Der | null {
    return this.children.find((one) => one.tag === tag) ?? null;
  }

  get oid(): string {
    if (this.tag !== OID) throw new Malformed();
    const numbers: number[] = [];
    let value = 0;
    for (const byte of this.content) {
      value = value * 128 + (byte & 0x7f);
      if (byte & 0x80) continue;
      numbers.push(value);
      value = 0;
    }
    const first = numbers.shift() ?? 0;
    const top = Math.min(2, Math.floor(first / 40));
    return [top, first - top * 40, ...numbers].join(".");
  }

  get integer(): bigint {
    if (this.tag !== INTEGER) throw new Malformed();
    return unsigned(this.content);
  }

  /** The content of a bit string with whole bytes. */
  get bits(): Uint8Array {
    if (this.tag !== BITS || this.content[0] !== 0) throw new Malformed();
    return this.content.subarray(1);
  }

  /** Seconds since 1970. */
  get time(): number {
    const text = String.fromCharCode(...this.content);
    const isShort = this.tag === UTC_TIME;
    if (!isShort && this.tag !== GENERAL_TIME) throw new Malformed();
    const full = isShort ? `${Number(text.slice(0, 2)) < 50 ? "20" : "19"}${text}` : text;
    const found = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d+)?Z$/.exec(full);
    if (found === null) throw new Malformed();
    const [year, month, ...rest] = found.slice(1, 7).map(Number) as [number, number, ...number[]];
    return Date.UTC(year, month - 1, ...rest) / 1000 + Number(found[7] ?? 0);
  }
}

export function unsigned(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}
