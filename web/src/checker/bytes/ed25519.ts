/** Ed25519 without the browser's WebCrypto, judged exactly as `tapeline verify` judges. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concat, equal } from "./bytes";

const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;

/**
 * The equation of RFC 8032 without the cofactor, as OpenSSL computes it. Libraries differ in what
 * they accept beyond it, and a signature that only one of two checkers accepts would be an attack.
 */
export function isSigned(
  publicKey: Uint8Array,
  signature: Uint8Array,
  message: Uint8Array,
): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const [r, s] = [signature.subarray(0, 32), littleEndian(signature.subarray(32))];
  if (s >= ORDER) return false;
  const key = pointOf(publicKey);
  if (key === null) return false;
  const k = littleEndian(sha512(concat(r, publicKey, message))) % ORDER;
  const expected = times(Point.BASE, s).subtract(times(key, k));
  return equal(expected.toBytes(), r);
}

function times(point: InstanceType<typeof Point>, factor: bigint): InstanceType<typeof Point> {
  return factor === 0n ? Point.ZERO : point.multiplyUnsafe(factor);
}

function pointOf(publicKey: Uint8Array): InstanceType<typeof Point> | null {
  try {
    return Point.fromBytes(publicKey, true);
  } catch {
    return null;
  }
}

function littleEndian(bytes: Uint8Array): bigint {
  let number = 0n;
  for (let place = bytes.length - 1; place >= 0; place--) {
    number = (number << 8n) | BigInt(bytes[place] ?? 0);
  }
  return number;
}
