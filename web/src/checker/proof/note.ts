/** The signed head of a server's log, as a tlog-checkpoint (c2sp.org/tlog-checkpoint). */
import { concat, equal, fromBase64, fromHex, utf8 } from "../bytes/bytes";
import { isSigned } from "../bytes/ed25519";
import type { Sha256 } from "../bytes/sha256";

const [SIGNED, COSIGNED] = [1, 4];
const ID = 4; // bytes
const LONGEST = 100_000; // characters
const MOST = 100; // signatures
const NONE = new Uint8Array();

/** A signature that is not by the witness it names. */
export class WrongSignature extends Error {}

export interface Note {
  /** What is signed and stamped: the note up to the blank line, without it. */
  text: Uint8Array;
  origin: string;
  size: number;
  root: Uint8Array;
  lines: SignatureLine[];
}

interface Witness {
  name: string;
  publicKey: string;
}

interface SignatureLine {
  name: string;
  id: Uint8Array;
  signature: Uint8Array;
}

/** Null if it has another form. */
export function readNote(note: string): Note | null {
  const end = note.indexOf("\n\n");
  if (end < 0 || !note.endsWith("\n") || note.length > LONGEST) return null;
  const [origin, size, root, ...more] = note.slice(0, end).split("\n");
  if (!origin || !size || root === undefined || more.length) return null;
  const hash = fromBase64(root);
  const found = note
    .slice(end + 2, -1)
    .split("\n")
    .map(signatureLine);
  const lines = found.filter((line) => line !== null);
  if (hash?.length !== 32 || lines.length !== found.length || lines.length > MOST) return null;
  if (!/^(?:0|[1-9]\d{0,15})$/.test(size)) return null;
  const text = utf8(note.slice(0, end + 1));
  return { text, origin, size: Number(size), root: hash, lines };
}

function signatureLine(line: string): SignatureLine | null {
  const [, name, packed] = /^— ([^ ]+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? [];
  const bytes = packed === undefined ? null : fromBase64(packed);
  if (name === undefined || bytes === null || bytes.length <= ID) return null;
  return { name, id: bytes.subarray(0, ID), signature: bytes.subarray(ID) };
}

/** Whether one of these keys signed it. Null if one is named whose signature is wrong. */
export function isSignedByServer(sha256: Sha256, note: Note, publicKeys: string[]): boolean | null {
  for (const publicKey of publicKeys) {
    const key = fromHex(publicKey) ?? NONE;
    const lines = linesOf(sha256, note, { name: note.origin, type: SIGNED, key });
    if (!lines.every((one) => isSigned(key, one.signature, note.text))) return null;
    if (lines.length) return true;
  }
  return false;
}

/** When a witness saw the same head, in seconds; null if it did not. */
export function cosignedAt(sha256: Sha256, note: Note, witness: Witness): number | null {
  const key = fromHex(witness.publicKey) ?? NONE;
  const lines = linesOf(sha256, note, { name: witness.name, type: COSIGNED, key });
  const times = lines.map(({ signature }) => {
    const at = timeOf(signature);
    const text = concat(utf8(`cosignature/v1\ntime ${at}\n`), note.text);
    if (at === null || !isSigned(key, signature.subarray(8), text)) throw new WrongSignature();
    return Number(at);
  });
  return times.length ? Math.min(...times) : null;
}

function timeOf(signature: Uint8Array): bigint | null {
  if (signature.length !== 72) return null;
  return new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
}

/** The lines that name a key. */
function linesOf(
  sha256: Sha256,
  note: Note,
  { name, type, key }: { name: string; type: number; key: Uint8Array },
): SignatureLine[] {
  const id = sha256(utf8(`${name}\n`), new Uint8Array([type]), key).subarray(0, ID);
  return note.lines.filter((line) => line.name === name && equal(line.id, id));
}
