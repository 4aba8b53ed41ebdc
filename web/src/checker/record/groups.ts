/** Recomputes the link of a group from its lines. */
import { compare, fromHex, utf8 } from "../bytes/bytes";
import type { Sha256 } from "../bytes/sha256";
import { type Event, type Field, refuse } from "../lines/lines";
import { NUMBERS } from "./kinds";

export const [OLDEST_RULE, PLAIN_RULE, BLIND_RULE] = [1, 2, 3] as const;
export const GENESIS = new Uint8Array(32);

const TEXTS = new Map([
  [PLAIN_RULE as number, utf8("tapeline 2")],
  [BLIND_RULE as number, utf8("tapeline 3")],
]);
const HEAD = 33; // bytes of a frame before the length of its content
const NONE = new Uint8Array();

/** One line of a group: where its frame is, or its digest if it is hidden. */
interface Member {
  seq: number;
  start: number;
  end: number;
  isSealed: boolean;
  blind: string | null;
  digest: Uint8Array | null;
}

/**
 * The events of a group that is not complete yet. Their frames lie one after the other, so a span
 * is hashed in one go. Its rule is known only at its end.
 */
export class Group {
  private members: Member[] = [];
  private frames = new Uint8Array(1 << 16);
  private view = new DataView(this.frames.buffer);
  private size = 0;

  constructor(private readonly sha256: Sha256) {}

  get isEmpty(): boolean {
    return this.members.length === 0;
  }

  get first(): number {
    return this.members[0]?.seq ?? 0;
  }

  add(event: Event): void {
    const kind = NUMBERS.get(event.kind) ?? refuse();
    const isSealed = event.body === null;
    const content = event.body ?? this.root(event);
    const start = this.size;
    this.reserve(HEAD + 11 + event.runId.length + event.backtestId.length + content.length);
    this.head(event, kind, isSealed);
    this.number(start + HEAD, content.length);
    this.size = start + HEAD + 8;
    this.put(BRACKET);
    this.put(event.runId);
    this.put(SEPARATOR);
    this.put(event.backtestId);
    this.put(CLOSING);
    this.put(content);
    const blind = event.blind;
    this.members.push({ seq: event.seq, start, end: this.size, isSealed, blind, digest: null });
  }

  addHidden(seq: number, digest: string): void {
    const bytes = fromHex(digest) ?? refuse();
    const at = this.size;
    this.members.push({ seq, start: at, end: at, isSealed: false, blind: null, digest: bytes });
  }

  /** The link that follows from these events, which are then forgotten. */
  close(previous: Uint8Array, rule: number): Uint8Array {
    const digests = rule === OLDEST_RULE ? this.olderDigests() : this.digests(rule);
    this.members = [];
    this.size = 0;
    return this.sha256(TEXTS.get(rule) ?? NONE, previous, ...joined(digests));
  }

  private reserve(more: number): void {
    const wanted = this.size + more;
    if (wanted <= this.frames.length) return;
    const larger = new Uint8Array(Math.max(wanted, this.frames.length * 2));
    larger.set(this.frames.subarray(0, this.size));
    this.frames = larger;
    this.view = new DataView(larger.buffer);
  }

  private head(event: Event, kind: number, isSealed: boolean): void {
    const [view, at] = [this.view, this.size];
    this.number(at, event.seq);
    this.number(at + 8, kind);
    view.setFloat64(at + 16, event.time);
    view.setFloat64(at + 24, event.receivedAt);
    view.setUint8(at + 32, isSealed ? 1 : 0);
  }

  private put(part: Uint8Array): void {
    this.frames.set(part, this.size);
    this.size += part.length;
  }

  /** In eight bytes; without BigInt, of which each would be an object. */
  private number(at: number, value: number): void {
    this.view.setUint32(at, Math.floor(value / 2 ** 32));
    this.view.setUint32(at + 4, value >>> 0);
  }

  /** Over the leaves of all fields, sorted: their order must not tell which one is hidden. */
  private root(event: Event): Uint8Array {
    const leaves = event.fields.map((one) => this.leaf(one));
    for (let place = 0; place < event.hidden.length; place++) {
      const leaf = event.hidden[place] ?? "";
      if (leaf < (event.hidden[place - 1] ?? "")) refuse();
      leaves.push(fromHex(leaf) ?? refuse());
    }
    return this.sha256(...joined(leaves.sort(compare)));
  }

  /** Over the text in the file: a value that was written differently is another value. */
  private leaf(field: Field): Uint8Array {
    return this.sha256(
      ...joined([field.salt, BRACKET, field.name, SEPARATOR, field.value, CLOSING]),
    );
  }

  private digests(rule: number): Uint8Array[] {
    const digests: Uint8Array[] = [];
    for (let place = 0; place < this.members.length; place++) {
      const first = this.members[place] as Member;
      if (first.digest !== null) {
        digests.push(first.digest);
        continue;
      }
      if (!first.isSealed) place = this.lastOfSpan(place);
      const last = this.members[place] as Member;
      const frames = this.frames.subarray(first.start, last.end);
      digests.push(this.sha256(first.isSealed ? NONE : blindOf(first, rule), frames));
    }
    return digests;
  }

  /** Consecutive plain events share a digest; only the first has the blind. */
  private lastOfSpan(first: number): number {
    let last = first;
    for (;;) {
      const next = this.members[last + 1];
      if (next === undefined || next.digest !== null || next.isSealed) return last;
      if (next.blind !== null) refuse();
      last++;
    }
  }

  /** Of the first version: one per event, without the length of the content. */
  private olderDigests(): Uint8Array[] {
    return this.members.map((one) => {
      if (one.blind !== null) refuse();
      if (one.digest !== null) return one.digest;
      const head = this.frames.subarray(one.start, one.start + HEAD);
      return this.sha256(head, this.frames.subarray(one.start + HEAD + 8, one.end));
    });
  }
}

const BRACKET = utf8("[");
const SEPARATOR = utf8(",");
const CLOSING = utf8("]");
let together = new Uint8Array(1 << 12);

/** As one piece: each call into WebAssembly costs more than copying a few bytes. */
function joined(parts: Uint8Array[]): Uint8Array[] {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  if (size > together.length) together = new Uint8Array(size * 2);
  let at = 0;
  for (const part of parts) {
    together.set(part, at);
    at += part.length;
  }
  return [together.subarray(0, size)];
}

function blindOf(first: Member, rule: number): Uint8Array {
  if ((first.blind !== null) !== (rule === BLIND_RULE)) refuse();
  return first.blind === null ? NONE : (fromHex(first.blind) ?? refuse());
}
