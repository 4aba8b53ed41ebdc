/** Merkle trees as in RFC 6962: what root an entry and its path lead to. */
import { fromHex } from "../bytes/bytes";
import type { Sha256 } from "../bytes/sha256";

const LEAF = new Uint8Array([0]);
const NODE = new Uint8Array([1]);

/** Null if a tree of this size has no such path for this place. */
export function rootOf(
  sha256: Sha256,
  data: Uint8Array,
  { place, size, path }: { place: number; size: number; path: string[] },
): Uint8Array | null {
  if (place >= size) return null;
  let hash = sha256(LEAF, data);
  let [at, last] = [place, size - 1];
  for (const step of path) {
    const beside = fromHex(step);
    if (beside === null || last === 0) return null;
    if (at % 2 || at === last) {
      hash = sha256(NODE, beside, hash);
      // A node at the right edge without a neighbour is the same one, a level higher.
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      hash = sha256(NODE, hash, beside);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 ? hash : null;
}

/** Sizes may exceed the 32 bits that JavaScript's shifts have. */
function half(number: number): number {
  return Math.floor(number / 2);
}
