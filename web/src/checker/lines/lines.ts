/** The lines of a record, each with exactly its keys in their order (docs/tape.md). */
import { utf8 } from "../bytes/bytes";
import { NotCanonical, type Scanner } from "./scanner";

export interface Key {
  publicKey: string;
  madeAt: number | null;
  previous: string | null;
  signature: string | null;
  acceptance: string | null;
}

export interface Witness {
  name: string;
  publicKey: string;
}

export interface Head {
  version: 1 | 2 | 3;
  modelId: string;
  seq: number;
  keys: Key[];
  /** Whether every event is there with all its fields; null if the version does not say it. */
  shows: "all" | "part" | null;
  /** What the first line of version 1 calls its key. */
  keyId: string | null;
  witnesses: Witness[];
}

/** A shown field of an order: texts as they stand in the file. */
export interface Field {
  name: Uint8Array;
  value: Uint8Array;
  salt: Uint8Array;
}

export interface Event {
  type: "event";
  seq: number;
  kind: string;
  time: number;
  receivedAt: number;
  /** The texts of both ids. */
  runId: Uint8Array;
  backtestId: Uint8Array;
  /** Either a body, or fields and the leaves of hidden ones. */
  body: Uint8Array | null;
  blind: string | null;
  fields: readonly Field[];
  hidden: readonly string[];
}

export interface Hidden {
  type: "hidden";
  seq: number;
  until: number;
  digest: string;
  removed: Map<string, number> | null;
  receivedAt: number | null;
}

export interface Link {
  type: "link";
  seq: number;
  link: string;
  rule: number;
}

export interface Checkpoint {
  type: "checkpoint";
  seq: number;
  link: string;
  at: number;
  keyId: string;
  signature: string;
}

/** Over the whole file before its line. */
export interface FileSignature {
  type: "file";
  sha256: string;
  keyId: string;
  signature: string;
}

export interface Stamp {
  authority: string;
  response: Uint8Array;
}

export interface Proof {
  type: "proof";
  seq: number;
  link: string;
  tree: { leaf: number; size: number; path: string[] };
  log: { entry: number; size: number; path: string[]; at: number };
  note: string;
  stamps: Stamp[];
}

/** A piece of a long list of a backtest's result. */
export interface Piece {
  type: "piece";
  seq: number;
  list: string;
  piece: number;
  first: number;
  items: Uint8Array;
  sealed: Uint8Array | null;
}

const NULL = utf8("null");
const NO_FIELDS: readonly Field[] = [];
const NO_LEAVES: readonly string[] = [];

export type Line = Event | Hidden | Link | Checkpoint | Proof | Piece | FileSignature;

/** The first line; null if it is not that of a record that we know. */
export function readHead(scanner: Scanner, line: Uint8Array): Head | null {
  const version = versionOf(line);
  if (version === null) return null;
  scanner.open(line);
  scanner.skip(`{"tapeline":"record","version":${version},"model_id":`);
  const modelId = scanner.text();
  const head = version === 1 ? firstHead(scanner, modelId) : laterHead(scanner, modelId, version);
  scanner.skip("}");
  scanner.close();
  return head;
}

/** Any other line. */
export function readLine(scanner: Scanner, line: Uint8Array): Line {
  scanner.open(line);
  const found = anyLine(scanner);
  scanner.skip("}");
  scanner.close();
  return found;
}

function versionOf(line: Uint8Array): 1 | 2 | 3 | null {
  try {
    const said: unknown = JSON.parse(new TextDecoder().decode(line));
    if (typeof said !== "object" || said === null) return null;
    const { tapeline, version } = said as { tapeline?: unknown; version?: unknown };
    if (tapeline !== "record") return null;
    return version === 1 || version === 2 || version === 3 ? version : null;
  } catch {
    return null;
  }
}

function firstHead(scanner: Scanner, modelId: string): Head {
  scanner.skip(',"public_key":');
  const publicKey = scanner.hash();
  scanner.skip(',"key_id":');
  const keyId = scanner.text();
  scanner.skip(',"seq":');
  const seq = scanner.count();
  const key = { publicKey, madeAt: null, previous: null, signature: null, acceptance: null };
  return { version: 1, modelId, seq, shows: null, keys: [key], keyId, witnesses: [] };
}

function laterHead(scanner: Scanner, modelId: string, version: 2 | 3): Head {
  scanner.skip(',"seq":');
  const seq = scanner.count();
  const shows = version === 3 ? extent(scanner) : null;
  scanner.skip(',"keys":');
  const keys = scanner.list(() => key(scanner));
  scanner.skip(',"witnesses":');
  const witnesses = scanner.list(() => witness(scanner));
  return { version, modelId, seq, shows, keys, keyId: null, witnesses };
}

function extent(scanner: Scanner): "all" | "part" {
  if (scanner.skipIf(',"shows":"all"')) return "all";
  scanner.skip(',"shows":"part"');
  return "part";
}

function key(scanner: Scanner): Key {
  scanner.skip('{"public_key":');
  const publicKey = scanner.text();
  scanner.skip(',"made_at":');
  const madeAt = scanner.orNull(() => scanner.double());
  const rest = ["previous", "signature", "acceptance"].map((name) => {
    scanner.skip(`,"${name}":`);
    return scanner.orNull(() => scanner.text());
  });
  scanner.skip("}");
  const [previous = null, signature = null, acceptance = null] = rest;
  return { publicKey, madeAt, previous, signature, acceptance };
}

function witness(scanner: Scanner): Witness {
  scanner.skip('{"name":');
  const name = scanner.text();
  scanner.skip(',"public_key":');
  const publicKey = scanner.hash();
  scanner.skip("}");
  return { name, publicKey };
}

function anyLine(scanner: Scanner): Line {
  if (scanner.skipIf('{"seq":')) {
    const seq = scanner.count();
    if (scanner.skipIf(',"kind":')) return event(scanner, seq);
    if (scanner.skipIf(',"link":')) return link(scanner, seq);
    if (scanner.skipIf(',"until":')) return hidden(scanner, seq);
    scanner.skip(',"list":');
    return piece(scanner, seq);
  }
  if (scanner.skipIf('{"checkpoint":')) return checkpoint(scanner);
  if (scanner.skipIf('{"file":')) return fileSignature(scanner);
  scanner.skip('{"proof":');
  return proof(scanner);
}

function event(scanner: Scanner, seq: number): Event {
  const kind = scanner.repeatedWord();
  scanner.skip(',"time":');
  const time = scanner.double();
  scanner.skip(',"received_at":');
  const receivedAt = scanner.double();
  scanner.skip(',"run_id":');
  const runId = id(scanner);
  scanner.skip(',"backtest_id":');
  const backtestId = id(scanner);
  let body: Uint8Array | null = null;
  let blind: string | null = null;
  let [fields, leaves] = [NO_FIELDS, NO_LEAVES];
  if (scanner.skipIf(',"body":')) {
    body = scanner.raw();
    if (scanner.skipIf(',"blind":')) blind = scanner.hash();
  } else {
    scanner.skip(',"fields":');
    const found: Field[] = [];
    scanner.entries((name) => found.push(field(scanner, name)));
    fields = found;
    scanner.skip(',"hidden":');
    leaves = scanner.list(() => scanner.hash());
  }
  // Written out: there are a million of them, and copying an object takes longer than reading one.
  return {
    type: "event",
    seq,
    kind,
    time,
    receivedAt,
    runId,
    backtestId,
    body,
    blind,
    fields,
    hidden: leaves,
  };
}

function id(scanner: Scanner): Uint8Array {
  return scanner.skipIf("null") ? NULL : scanner.quoted();
}

function field(scanner: Scanner, name: Uint8Array): Field {
  scanner.skip("[");
  const value = scanner.raw();
  scanner.skip(",");
  const salt = scanner.base64();
  scanner.skip("]");
  return { name, value, salt };
}

function hidden(scanner: Scanner, seq: number): Hidden {
  const until = scanner.count();
  scanner.skip(',"digest":');
  const digest = scanner.hash();
  if (!scanner.skipIf(',"removed":')) {
    return { type: "hidden", seq, until, digest, removed: null, receivedAt: null };
  }
  const removed = new Map<string, number>();
  scanner.entries((name) => {
    removed.set(new TextDecoder().decode(name).slice(1, -1), scanner.count());
  });
  scanner.skip(',"received_at":');
  return { type: "hidden", seq, until, digest, removed, receivedAt: scanner.double() };
}

function link(scanner: Scanner, seq: number): Link {
  const hash = scanner.hash();
  scanner.skip(',"rule":');
  return { type: "link", seq, link: hash, rule: scanner.integer() };
}

function checkpoint(scanner: Scanner): Checkpoint {
  scanner.skip('{"seq":');
  const seq = scanner.integer();
  scanner.skip(',"link":');
  const hash = scanner.text();
  scanner.skip(',"at":');
  const at = scanner.double();
  scanner.skip(',"key_id":');
  const keyId = scanner.text();
  scanner.skip(',"signature":');
  const signature = scanner.text();
  scanner.skip("}");
  return { type: "checkpoint", seq, link: hash, at, keyId, signature };
}

function fileSignature(scanner: Scanner): FileSignature {
  scanner.skip('{"sha256":');
  const sha256 = scanner.hash();
  scanner.skip(',"key_id":');
  const keyId = scanner.text();
  scanner.skip(',"signature":');
  const signature = scanner.text();
  scanner.skip("}");
  return { type: "file", sha256, keyId, signature };
}

function proof(scanner: Scanner): Proof {
  scanner.skip('{"seq":');
  const seq = scanner.count();
  scanner.skip(',"link":');
  const hash = scanner.hash();
  scanner.skip(',"tree":{"leaf":');
  const leaf = scanner.count();
  const tree = { leaf, ...branch(scanner) };
  scanner.skip('},"log":{"entry":');
  const entry = scanner.count();
  const inLog = { entry, ...branch(scanner) };
  scanner.skip(',"at":');
  const log = { ...inLog, at: scanner.double() };
  scanner.skip('},"note":');
  const note = scanner.text();
  scanner.skip(',"stamps":');
  const stamps = scanner.list(() => stamp(scanner));
  scanner.skip("}");
  return { type: "proof", seq, link: hash, tree, log, note, stamps };
}

function branch(scanner: Scanner): { size: number; path: string[] } {
  scanner.skip(',"size":');
  const size = scanner.count();
  scanner.skip(',"path":');
  return { size, path: scanner.list(() => scanner.hash()) };
}

function stamp(scanner: Scanner): Stamp {
  scanner.skip('{"authority":');
  const authority = scanner.text();
  scanner.skip(',"response":');
  const response = scanner.base64();
  scanner.skip("}");
  return { authority, response };
}

function piece(scanner: Scanner, seq: number): Piece {
  const list = scanner.text();
  scanner.skip(',"piece":');
  const number = scanner.count();
  scanner.skip(',"first":');
  const first = scanner.count();
  scanner.skip(',"items":');
  const items = scanner.raw();
  const sealed = scanner.skipIf(',"sealed":') ? scanner.base64() : null;
  return { type: "piece", seq, list, piece: number, first, items, sealed };
}

/** A line that reads well and cannot be meant. */
export function refuse(): never {
  throw new NotCanonical();
}
