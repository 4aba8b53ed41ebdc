/** Paths in trees of every shape, against a tree that is computed as the RFC defines it. */
import { describe, expect, it } from "vitest";
import { hex, utf8 } from "../bytes/bytes";
import { loadSha256 } from "../bytes/sha256";
import { rootOf } from "./merkle";

const sha256 = await loadSha256();

/** RFC 6962, section 2.1. */
function tree(leaves: Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (leaves.length === 1 && only) return sha256(new Uint8Array([0]), only);
  const cut = split(leaves.length);
  return sha256(new Uint8Array([1]), tree(leaves.slice(0, cut)), tree(leaves.slice(cut)));
}

/** RFC 6962, section 2.1.1. */
function pathOf(place: number, leaves: Uint8Array[]): string[] {
  if (leaves.length === 1) return [];
  const cut = split(leaves.length);
  const [left, right] = [leaves.slice(0, cut), leaves.slice(cut)];
  return place < cut
    ? [...pathOf(place, left), hex(tree(right))]
    : [...pathOf(place - cut, right), hex(tree(left))];
}

function split(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

describe("a path", () => {
  const all = Array.from({ length: 17 }, (_, number) => utf8(`leaf ${number}`));

  it("leads from every leaf to the root, and from nothing else", () => {
    for (let size = 1; size <= all.length; size++) {
      const leaves = all.slice(0, size);
      const root = hex(tree(leaves));
      for (const [place, leaf] of leaves.entries()) {
        const path = pathOf(place, leaves);
        const found = rootOf(sha256, leaf, { place, size, path });
        expect(found && hex(found)).toBe(root);
        const other = rootOf(sha256, utf8("other"), { place, size, path });
        expect(other && hex(other)).not.toBe(root);
        expect(rootOf(sha256, leaf, { place, size, path: [...path, root] })).toBeNull();
        expect(rootOf(sha256, leaf, { place: size, size, path })).toBeNull();
        if (path.length) {
          expect(rootOf(sha256, leaf, { place, size, path: path.slice(1) })).toBeNull();
        }
      }
    }
  });
});
