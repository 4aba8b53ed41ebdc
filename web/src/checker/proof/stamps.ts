/** Time stamps (RFC 3161): an authority's signed statement that it saw a hash at a time. */
import { equal, hex } from "../bytes/bytes";
import { Certificate, leadsToTrust } from "./certificates";
import { Der, INTEGER, Malformed, OCTETS, OID, SEQUENCE, SET } from "./der";
import { hashOf, hashOfSignature, isSignedBy, Unsupported } from "./signatures";

const SIGNED_DATA = "1.2.840.113549.1.7.2";
const STAMP = "1.2.840.113549.1.9.16.1.4";
const [CONTENT_TYPE, DIGEST] = ["1.2.840.113549.1.9.3", "1.2.840.113549.1.9.4"];
const [OLDER_SIGNER, SIGNER] = ["1.2.840.113549.1.9.16.2.12", "1.2.840.113549.1.9.16.2.47"];
const SHA1 = "1.3.14.3.2.26";
const SHA256 = "2.16.840.1.101.3.4.2.1";
const FIRST = 0xa0;
const TIME = 0x18;
const GRANTED = 0n;

export interface StampResult {
  /** When, by the authority's clock. */
  at: number;
  isTrusted: boolean;
  /** False if it is by an algorithm that this checker does not know. */
  isChecked: boolean;
}

/** Null if the stamp is over something else, or its signature is wrong. */
export function checkStamp(
  response: Uint8Array,
  text: Uint8Array,
  trusted: Certificate[],
): StampResult | null {
  try {
    return check(response, text, trusted);
  } catch (error) {
    if (error instanceof Malformed) return null;
    if (error instanceof Unsupported) return { at: 0, isTrusted: false, isChecked: false };
    throw error;
  }
}

function check(response: Uint8Array, text: Uint8Array, trusted: Certificate[]): StampResult | null {
  const answer = Der.read(response);
  if (answer.at(0, SEQUENCE).at(0, INTEGER).integer !== GRANTED) return null;
  const signed = signedData(answer.at(1, SEQUENCE));
  const packed = signed.at(2, SEQUENCE);
  if (packed.at(0, OID).oid !== STAMP) return null;
  const content = packed.at(1, FIRST).at(0, OCTETS).content;
  const info = Der.read(content);
  const at = info.tagged(TIME)?.time;
  if (at === undefined || !isOver(info, text)) return null;
  const signers = signed.children.at(-1)?.children ?? [];
  const [signer] = signers;
  if (signer === undefined || signers.length !== 1) return null;
  const certificates = (signed.tagged(FIRST)?.children ?? [])
    .filter((one) => one.tag === SEQUENCE)
    .map((one) => new Certificate(one.raw));
  const own = certificates.find((one) => isNamed(signer, one));
  // Anyone can sign with a certificate of their own: whether they did it right means nothing.
  if (own === undefined || !leadsToTrust(own, certificates, trusted, at)) {
    return { at, isTrusted: false, isChecked: true };
  }
  return isSignedContent(signer, content, own) ? { at, isTrusted: true, isChecked: true } : null;
}

function signedData(token: Der): Der {
  if (token.at(0, OID).oid !== SIGNED_DATA) throw new Malformed();
  return token.at(1, FIRST).at(0, SEQUENCE);
}

function isOver(info: Der, text: Uint8Array): boolean {
  const imprint = info.at(2, SEQUENCE);
  if (imprint.at(0, SEQUENCE).at(0, OID).oid !== SHA256) return false;
  return equal(imprint.at(1, OCTETS).content, hashOf(SHA256)(text));
}

/** Whether the key of a certificate signed the content. */
function isSignedContent(signer: Der, content: Uint8Array, certificate: Certificate): boolean {
  const attributes = signer.tagged(FIRST);
  if (!certificate.stamps || attributes === null) return false;
  const values = new Map(
    attributes.children.map((one) => [one.at(0, OID).oid, one.at(1, SET).children[0]] as const),
  );
  const digest = signer.at(2, SEQUENCE).at(0, OID).oid;
  const isMeant =
    values.get(CONTENT_TYPE)?.oid === STAMP &&
    equal(values.get(DIGEST)?.content ?? NONE, hashOf(digest)(content)) &&
    isMeantSigner(values.get(SIGNER), values.get(OLDER_SIGNER), certificate);
  const algorithm = signer.at(4, SEQUENCE).at(0, OID).oid;
  // What is signed is the set of attributes with its own tag, not with that of its place.
  const message = attributes.raw.slice();
  message[0] = SET;
  const hash = hashOfSignature(algorithm, digest);
  const isBy = isSignedBy(certificate.publicKey, hash, signer.at(5, OCTETS).content, message);
  return isMeant && isBy;
}

const NONE = new Uint8Array();

/** By issuer and number, or by the id of its key. */
function isNamed(signer: Der, certificate: Certificate): boolean {
  const [, id] = signer.children;
  if (id?.tag === SEQUENCE) {
    return (
      equal(id.at(0, SEQUENCE).raw, certificate.issuer) &&
      id.at(1, INTEGER).integer === certificate.serial
    );
  }
  return id?.tag === 0x80 && hex(id.content) === certificate.keyId;
}

/** The signer names its certificate by a hash, so that no other can take its place. */
function isMeantSigner(
  newer: Der | undefined,
  older: Der | undefined,
  certificate: Certificate,
): boolean {
  const named = (newer ?? older)?.at(0, SEQUENCE).at(0, SEQUENCE);
  if (named === undefined) return false;
  const algorithm = named.tagged(SEQUENCE)?.children[0];
  const isAlgorithm =
    newer !== undefined && algorithm?.tag === OID && named.children[0]?.tag === SEQUENCE;
  const hash = newer === undefined ? SHA1 : isAlgorithm ? algorithm.oid : SHA256;
  return equal(named.tagged(OCTETS)?.content ?? NONE, hashOf(hash)(certificate.raw));
}
