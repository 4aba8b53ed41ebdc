/** Signatures of certificates and time stamps: RSA and ECDSA, without the browser's WebCrypto. */
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { concat, fromHex } from "../bytes/bytes";
import { BITS, Der, OID, SEQUENCE, unsigned } from "./der";

type Hash = (bytes: Uint8Array) => Uint8Array;

/** An algorithm that this checker does not know: it can say neither yes nor no. */
export class Unsupported extends Error {}

const HASHES = new Map<string, Hash>([
  ["1.3.14.3.2.26", sha1],
  ["2.16.840.1.101.3.4.2.1", sha256],
  ["2.16.840.1.101.3.4.2.2", sha384],
  ["2.16.840.1.101.3.4.2.3", sha512],
]);
/** Algorithms of signatures that say by which hash. */
const SIGNATURES = new Map([
  ["1.2.840.113549.1.1.5", "1.3.14.3.2.26"],
  ["1.2.840.113549.1.1.11", "2.16.840.1.101.3.4.2.1"],
  ["1.2.840.113549.1.1.12", "2.16.840.1.101.3.4.2.2"],
  ["1.2.840.113549.1.1.13", "2.16.840.1.101.3.4.2.3"],
  ["1.2.840.10045.4.3.2", "2.16.840.1.101.3.4.2.1"],
  ["1.2.840.10045.4.3.3", "2.16.840.1.101.3.4.2.2"],
  ["1.2.840.10045.4.3.4", "2.16.840.1.101.3.4.2.3"],
]);
/** Those that leave the hash to what is beside them. */
const PLAIN = new Set(["1.2.840.113549.1.1.1", "1.2.840.10045.2.1"]);
const [RSA, EC] = ["1.2.840.113549.1.1.1", "1.2.840.10045.2.1"];
const CURVES = new Map([
  ["1.2.840.10045.3.1.7", p256],
  ["1.3.132.0.34", p384],
  ["1.3.132.0.35", p521],
]);
/** What stands before a hash in a signature by RSA: its algorithm and length. */
const PREFIXES = new Map([
  ["1.3.14.3.2.26", "3021300906052b0e03021a05000414"],
  ["2.16.840.1.101.3.4.2.1", "3031300d060960864801650304020105000420"],
  ["2.16.840.1.101.3.4.2.2", "3041300d060960864801650304020205000430"],
  ["2.16.840.1.101.3.4.2.3", "3051300d060960864801650304020305000440"],
]);
const LEAST_BITS = 2048;

export function hashOf(algorithm: string): Hash {
  const found = HASHES.get(algorithm);
  if (found === undefined) throw new Unsupported(`the hash ${algorithm}`);
  return found;
}

/** The hash of a signature's algorithm; `beside` where it names none. */
export function hashOfSignature(algorithm: string, beside: string | null): string {
  const own = SIGNATURES.get(algorithm) ?? (PLAIN.has(algorithm) ? beside : null);
  if (own === null) throw new Unsupported(`the signature ${algorithm}`);
  return own;
}

/** Whether the key of a certificate made a signature over a message. */
export function isSignedBy(
  publicKey: Der,
  hash: string,
  signature: Uint8Array,
  message: Uint8Array,
): boolean {
  const algorithm = publicKey.at(0, SEQUENCE);
  const kind = algorithm.at(0, OID).oid;
  const digest = hashOf(hash)(message);
  const key = publicKey.at(1, BITS).bits;
  if (kind === RSA) return isRsa(key, hash, signature, digest);
  if (kind !== EC) throw new Unsupported(`the key ${kind}`);
  const curve = CURVES.get(algorithm.at(1, OID).oid);
  if (curve === undefined) throw new Unsupported("the curve");
  try {
    return curve.verify(signature, digest, key, { prehash: false, format: "der", lowS: false });
  } catch {
    return false;
  }
}

/** RSASSA-PKCS1-v1_5: the padding is written and compared, never parsed. */
function isRsa(key: Uint8Array, hash: string, signature: Uint8Array, digest: Uint8Array): boolean {
  const [modulus, exponent] = Der.read(key).children.map((one) => one.integer);
  if (modulus === undefined || exponent === undefined) throw new Unsupported("the key");
  const size = Math.ceil(modulus.toString(2).length / 8);
  const value = unsigned(signature);
  if (size * 8 < LEAST_BITS || signature.length !== size || value >= modulus) return false;
  return power(value, exponent, modulus) === unsigned(padded(hash, digest, size));
}

function padded(hash: string, digest: Uint8Array, size: number): Uint8Array {
  const prefix = fromHex(PREFIXES.get(hash) ?? "") ?? new Uint8Array();
  const filling = new Uint8Array(size - prefix.length - digest.length - 3).fill(0xff);
  return concat(new Uint8Array([0, 1]), filling, new Uint8Array([0]), prefix, digest);
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square, rest] = [1n, base, exponent];
  for (; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}
