/** The keys that signed a record: which signature is by which key, and whether a reader knows it. */
import { fromHex } from "../bytes/bytes";
import { isSigned } from "../bytes/ed25519";
import type { Sha256 } from "../bytes/sha256";
import { type Checkpoint, type FileSignature, type Head, type Key, refuse } from "../lines/lines";
import { quoted } from "../lines/quoting";
import { connected, fingerprintOf, idOf, replacedAt, trouble } from "./keys";
import { Broken, type Checked } from "./outcome";

/** Seconds for which a replaced key may still sign: a running server notices the new one later. */
const GRACE = 3_600;

export class Signers {
  private readonly byId: Map<string, Key>;
  private last: { key: Key; at: number } | null = null;
  /** The first signature by each key. */
  private readonly firsts = new Map<string, Checkpoint>();

  constructor(
    private readonly sha256: Sha256,
    private readonly head: Head,
  ) {
    const { keys } = head;
    this.requireOwnId();
    const said = trouble(sha256, keys);
    if (said !== null) throw new Broken(1, "key_chain", said);
    this.byId = new Map(keys.map((key) => [idOf(sha256, key.publicKey), key]));
  }

  /** Whether a checkpoint counts; throws if its signature is not by the key it names. */
  confirm(one: Checkpoint, statement: Uint8Array): boolean {
    const signature = fromHex(one.signature) ?? refuse();
    const key = this.byId.get(one.keyId);
    if (key === undefined) {
      this.requireUnlisted(one, signature, statement);
      return false;
    }
    if (!isSigned(fromHex(key.publicKey) ?? refuse(), signature, statement)) {
      const why = `The signature at event ${one.seq} is not by the key ${one.keyId}.`;
      throw new Broken(one.seq, "signature_wrong", why);
    }
    this.last = { key, at: one.at };
    if (!this.firsts.has(key.publicKey)) this.firsts.set(key.publicKey, one);
    return true;
  }

  /**
   * The signature over the whole file decides who signed it, at the earliest when the last event
   * was signed.
   */
  confirmFile(one: FileSignature, seq: number, statement: Uint8Array): void {
    const signature = fromHex(one.signature) ?? refuse();
    const key = this.byId.get(one.keyId);
    if (key === undefined) {
      const why = `The key ${quoted(one.keyId)} of the signature over the file is not listed.`;
      throw new Broken(seq, "key_not_listed", why);
    }
    if (!isSigned(fromHex(key.publicKey) ?? refuse(), signature, statement)) {
      const why = `The signature over the file is not by the key ${one.keyId}.`;
      throw new Broken(seq, "signature_wrong", why);
    }
    this.last = { key, at: this.last?.at ?? 0 };
  }

  /**
   * Says of the last signature who made it. An earlier one by a stranger says nothing: they could
   * date it as they like. `known` are fingerprints, beginnings of them, or public
   * keys.
   */
  judge(found: Checked, known: string[], published: Key[]): void {
    if (this.last === null) return;
    const { key, at } = this.last;
    found.fingerprint = fingerprintOf(this.sha256, key.publicKey);
    found.keyId = idOf(this.sha256, key.publicKey);
    const keys = this.head.keys;
    const given = keys.map((one) => one.publicKey).filter((one) => this.isGiven(one, known));
    const replaced = replacedAt([...keys, ...published]);
    found.isKnown = connected(keys, new Set(given)).has(key.publicKey);
    const believed = connected(keys, new Set([...given, key.publicKey]));
    const firsts = [...this.firsts].filter(([by]) => believed.has(by)).map(([, one]) => one);
    found.first = firsts.sort((one, other) => one.seq - other.seq)[0] ?? null;
    found.isRetired = at > (replaced.get(key.publicKey) ?? at) + GRACE;
  }

  private isGiven(publicKey: string, known: string[]): boolean {
    const fingerprint = fingerprintOf(this.sha256, publicKey);
    return known.some((one) => fingerprint.startsWith(one) || one === publicKey);
  }

  private requireOwnId(): void {
    const { keyId, keys } = this.head;
    if (keyId === null) return;
    const real = idOf(this.sha256, keys[0]?.publicKey ?? "");
    if (keyId === real) return;
    throw new Broken(
      1,
      "key_chain",
      `It names the key ${quoted(keyId)}, but contains the key ${real}.`,
    );
  }

  /** A key that is not in the file cannot be checked. One that is must not have another id. */
  private requireUnlisted(one: Checkpoint, signature: Uint8Array, statement: Uint8Array): void {
    const by = `The signature at event ${one.seq} is by the key`;
    if (this.head.version > 1) {
      const why = `The key ${quoted(one.keyId)} of the signature at event ${one.seq} is not listed.`;
      throw new Broken(one.seq, "key_not_listed", why);
    }
    for (const [id, key] of this.byId) {
      if (isSigned(fromHex(key.publicKey) ?? refuse(), signature, statement)) {
        throw new Broken(one.seq, "key_chain", `${by} ${id}, not by ${quoted(one.keyId)}.`);
      }
    }
  }
}
