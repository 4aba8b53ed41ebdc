/** The result of checking a record, and the status that follows from it, as `tapeline verify` has. */
import { Newest } from "../changes/newest";
import type { Checkpoint } from "../lines/lines";

export const [PROVEN, BROKEN, UNKNOWN_SIGNER, UNSIGNED] = [0, 1, 3, 4] as const;
export type Status = typeof PROVEN | typeof BROKEN | typeof UNKNOWN_SIGNER | typeof UNSIGNED;

/** Of how positions are kept or of the capital; fields as far as they are shown. */
export interface Change {
  seq: number;
  receivedAt: number;
  fields: Record<string, unknown>;
}

/** A proof from outside: since when others knew the record up to an event. */
export interface Stamped {
  seq: number;
  authority: string;
  at: number;
  isTrusted: boolean;
  /** False if it is by an algorithm that this checker does not know. */
  isChecked: boolean;
}

/** The name is what the file says; only the key tells who it is. */
export interface Cosigned {
  seq: number;
  name: string;
  fingerprint: string;
  at: number;
}

export interface Checked {
  modelId: string;
  keyId: string;
  fingerprint: string;
  isKnown: boolean;
  isRetired: boolean;
  events: number;
  hidden: number;
  partly: number;
  removed: Map<string, number>;
  removedUntil: number;
  /** Whether the server signed the file as it is, with all that it hides or says of it. */
  isFileSigned: boolean;
  lists: number;
  /** Lists that results name, and that are not in the file. */
  listsMissing: number;
  /** Of the last event. */
  link: string;
  /** By a key that is known, or of the same chain as that of the last signature. */
  first: Checkpoint | null;
  last: Checkpoint | null;
  signatures: number;
  /** Events after the last signature. An honest record has none. */
  unsigned: number;
  /** When the first of them claims to have arrived; null if they do not say it. */
  unsignedFrom: number | null;
  unsignedUntil: number | null;
  /** Events that arrived long before an earlier one: the server's clock was set back. */
  setBack: number;
  /** Seconds, at most. */
  setBackBy: number;
  uncounted: number;
  /** Reports that came after the fact, or are dated into the future. */
  afterwards: Newest;
  changes: Change[];
  proofs: number;
  stamps: Stamped[];
  cosigned: Cosigned[];
  /** The longest time from the arrival of an event to the trusted stamp that confirms it. */
  stampGap: number | null;
  /** Events after the last trusted stamp. */
  unstamped: number;
  /** Roots of the server's log, by its name and size. */
  logHeads: Map<string, string>;
  /** Events at which proofs begin to be of another log: the server was restored or copied. */
  newLogs: number[];
  brokenAt: number | null;
  reason: string | null;
  code: string;
}

export function nothingYet(): Checked {
  return {
    modelId: "",
    keyId: "",
    fingerprint: "",
    isKnown: false,
    isRetired: false,
    events: 0,
    hidden: 0,
    partly: 0,
    removed: new Map(),
    removedUntil: 0,
    isFileSigned: false,
    lists: 0,
    listsMissing: 0,
    link: "",
    first: null,
    last: null,
    signatures: 0,
    unsigned: 0,
    unsignedFrom: null,
    unsignedUntil: null,
    setBack: 0,
    setBackBy: 0,
    uncounted: 0,
    afterwards: new Newest(),
    changes: [],
    proofs: 0,
    stamps: [],
    cosigned: [],
    stampGap: null,
    unstamped: 0,
    logHeads: new Map(),
    newLogs: [],
    brokenAt: null,
    reason: null,
    code: "",
  };
}

/**
 * Events of which the file has a digest only. Of which kind removed ones were is the server's
 * statement if it signed the file; otherwise they may have been orders.
 */
export function notShown(found: Checked): number {
  if (found.isFileSigned) return found.hidden;
  return [...found.removed.values()].reduce((sum, count) => sum + count, found.hidden);
}

/** Whether something may be hidden that counts. */
export function isPartial(found: Checked): boolean {
  return notShown(found) > 0 || found.partly > 0;
}

/** Broken before unsigned before unknown: a reader gets the worst of them. */
export function statusOf(found: Checked): Status {
  if (found.reason !== null) return BROKEN;
  if (found.last === null || found.unsigned) return UNSIGNED;
  return found.isKnown && !found.isRetired ? PROVEN : UNKNOWN_SIGNER;
}

/** A word for programs, in every case. */
export function verdictOf(found: Checked): string {
  const status = statusOf(found);
  if (status === BROKEN) return found.code;
  if (status === UNSIGNED) return found.last === null ? "unsigned" : "unsigned_tail";
  if (status === PROVEN) return "proven";
  return found.isKnown ? "retired_key" : "unknown_signer";
}

/** Where a record differs from what was signed. */
export class Broken extends Error {
  constructor(
    readonly seq: number,
    readonly code: string,
    readonly reason: string,
  ) {
    super(reason);
  }
}
