/** The keys of a server as a chain: each new key and the one before it sign that they belong together. */
import { fromHex, hex, utf8 } from "../bytes/bytes";
import { isSigned } from "../bytes/ed25519";
import type { Sha256 } from "../bytes/sha256";
import type { Key } from "../lines/lines";
import { inStatement } from "../lines/numbers";

const ID_LENGTH = 16;

export function fingerprintOf(sha256: Sha256, publicKey: string): string {
  return hex(sha256(utf8(publicKey)));
}

export function idOf(sha256: Sha256, publicKey: string): string {
  return fingerprintOf(sha256, publicKey).slice(0, ID_LENGTH);
}

/** What is wrong with a list of keys; null if each follows from the ones before it. */
export function trouble(sha256: Sha256, keys: Key[]): string | null {
  const seen = new Set<string>();
  for (const key of keys) {
    const id = idOf(sha256, key.publicKey);
    if (!/^[0-9a-f]{64}$/.test(key.publicKey) || seen.has(key.publicKey)) {
      return `The key ${id} is listed twice, or is not a key.`;
    }
    if (!follows(key, seen)) return `The key ${id} is not confirmed by the key before it.`;
    seen.add(key.publicKey);
  }
  return null;
}

/** The public keys that belong to a chain of a known one. The list must be without trouble. */
export function connected(keys: Key[], known: Set<string>): Set<string> {
  const found = new Set(known);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { publicKey, previous } of keys) {
      if (previous === null || !(found.has(publicKey) || found.has(previous))) continue;
      found.add(publicKey).add(previous);
    }
  }
  return found;
}

/** When each public key got its first successor. */
export function replacedAt(keys: Key[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { previous, madeAt } of keys) {
    if (previous === null || madeAt === null) continue;
    found.set(previous, Math.min(madeAt, found.get(previous) ?? madeAt));
  }
  return found;
}

function follows(key: Key, seen: Set<string>): boolean {
  const { publicKey, previous, madeAt, signature, acceptance } = key;
  if (previous === null) return madeAt === null && signature === null && acceptance === null;
  if (!seen.has(previous) || madeAt === null) return false;
  const said = ["tapeline key", previous, publicKey, inStatement(madeAt)];
  const statement = utf8(JSON.stringify(said));
  return isBy(previous, signature, statement) && isBy(publicKey, acceptance, statement);
}

function isBy(publicKey: string, signature: string | null, statement: Uint8Array): boolean {
  const key = fromHex(publicKey);
  const signed = signature === null ? null : fromHex(signature);
  return key !== null && signed !== null && isSigned(key, signed, statement);
}
