/** Certificates (X.509), as far as a time stamp needs them, and whether a trusted one is behind. */
import { equal, fromBase64, hex } from "../bytes/bytes";
import { BITS, Der, INTEGER, OCTETS, OID, SEQUENCE } from "./der";
import { hashOfSignature, isSignedBy, Unsupported } from "./signatures";

const [VERSION, EXTENSIONS] = [0xa0, 0xa3];
const [USE, CONSTRAINTS, KEY_ID] = ["2.5.29.37", "2.5.29.19", "2.5.29.14"];
const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";
const BOOLEAN = 0x01;
const LONGEST = 8;
const PEM = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/g;

export class Certificate {
  readonly serial: bigint;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly publicKey: Der;
  private readonly body: Der;
  private readonly algorithm: string;
  private readonly signature: Uint8Array;
  private readonly from: number;
  private readonly until: number;

  constructor(readonly raw: Uint8Array) {
    const whole = Der.read(raw);
    this.body = whole.at(0, SEQUENCE);
    this.algorithm = whole.at(1, SEQUENCE).at(0, OID).oid;
    this.signature = whole.at(2, BITS).bits;
    const first = this.body.children[0]?.tag === VERSION ? 1 : 0;
    this.serial = this.body.at(first, INTEGER).integer;
    this.issuer = this.body.at(first + 2, SEQUENCE).raw;
    const [from, until] = this.body.at(first + 3, SEQUENCE).children;
    this.from = from?.time ?? Number.POSITIVE_INFINITY;
    this.until = until?.time ?? Number.NEGATIVE_INFINITY;
    this.subject = this.body.at(first + 4, SEQUENCE).raw;
    this.publicKey = this.body.at(first + 5, SEQUENCE);
  }

  get keyId(): string {
    const found = this.extension(KEY_ID);
    return found === null ? "" : hex(Der.read(found).content);
  }

  /** Whether it may be used for time stamps. */
  get stamps(): boolean {
    const found = this.extension(USE);
    return found !== null && Der.read(found).children.some((one) => one.oid === TIME_STAMPING);
  }

  /** Whether it may confirm other certificates. */
  get isAuthority(): boolean {
    const found = this.extension(CONSTRAINTS);
    const first = found === null ? undefined : Der.read(found).children[0];
    return first?.tag === BOOLEAN && first.content[0] === 0xff;
  }

  isValidAt(time: number): boolean {
    return this.from <= time && time <= this.until;
  }

  isConfirmedBy(other: Certificate): boolean {
    if (!equal(this.issuer, other.subject)) return false;
    const hash = hashOfSignature(this.algorithm, null);
    return isSignedBy(other.publicKey, hash, this.signature, this.body.raw);
  }

  private extension(wanted: string): Uint8Array | null {
    const list = this.body.tagged(EXTENSIONS)?.at(0, SEQUENCE).children ?? [];
    const found = list.find((one) => one.at(0, OID).oid === wanted);
    return found?.tagged(OCTETS)?.content ?? null;
  }
}

/** Whether a chain of certificates leads to a trusted one, all of them valid at that time. */
export function leadsToTrust(
  leaf: Certificate,
  beside: Certificate[],
  trusted: Certificate[],
  time: number,
): boolean {
  let current = leaf;
  for (let length = 0; length < LONGEST; length++) {
    if (!current.isValidAt(time)) return false;
    if (trusted.some((one) => equal(one.raw, current.raw))) return true;
    const confirms = (one: Certificate): boolean => one.isAuthority && isConfirmed(current, one);
    if (trusted.some((one) => one.isValidAt(time) && confirms(one))) return true;
    const next = beside.find((one) => one !== current && confirms(one));
    if (next === undefined) return false;
    current = next;
  }
  return false;
}

function isConfirmed(one: Certificate, other: Certificate): boolean {
  try {
    return one.isConfirmedBy(other);
  } catch (error) {
    if (error instanceof Unsupported) return false;
    throw error;
  }
}

/** The certificates in a file of a reader: PEM with any number of them, or one in DER. */
export function readCertificates(bytes: Uint8Array): Certificate[] {
  const text = new TextDecoder("latin1").decode(bytes);
  const found = [...text.matchAll(PEM)].map(([, packed]) =>
    fromBase64((packed ?? "").replace(/\s/g, "")),
  );
  if (!found.length) return [new Certificate(bytes)];
  return found.filter((one) => one !== null).map((one) => new Certificate(one));
}
