/** The result of checking a record, and the status that follows from it, as `tapeline verify` has. */
import type { Checkpoint } from "./lines";

export const [PROVEN, BROKEN, UNKNOWN_SIGNER, UNSIGNED] = [0, 1, 3, 4] as const;
export type Status = typeof PROVEN | typeof BROKEN | typeof UNKNOWN_SIGNER | typeof UNSIGNED;

/** Seconds of events after the last signature. */
const TAIL = 3_600;

export interface Late {
  seq: number;
  seconds: number;
  kind: string;
}

/** Of how positions are kept or of the capital; fields as far as they are shown. */
export interface Change {
  seq: number;
  receivedAt: number;
  fields: Record<string, unknown>;
}

/** An event that was counted, and the first of its kind that were. */
export interface Listed<Item> {
  count: number;
  items: Item[];
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

export interface Cosigned {
  seq: number;
  name: string;
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
  lists: number;
  first: Checkpoint | null;
  last: Checkpoint | null;
  signatures: number;
  unsigned: number;
  /** From the last signature to the last event; null if those events do not say when. */
  tailSeconds: number | null;
  uncounted: number;
  late: Listed<Late>;
  lateKinds: Map<string, number>;
  replaced: Listed<number>;
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
    lists: 0,
    first: null,
    last: null,
    signatures: 0,
    unsigned: 0,
    tailSeconds: 0,
    uncounted: 0,
    late: { count: 0, items: [] },
    lateKinds: new Map(),
    replaced: { count: 0, items: [] },
    changes: [],
    proofs: 0,
    stamps: [],
    cosigned: [],
    stampGap: null,
    unstamped: 0,
    logHeads: new Map(),
    brokenAt: null,
    reason: null,
    code: "",
  };
}

/** Broken before unsigned before unknown: a reader gets the worst of them. */
export function statusOf(found: Checked): Status {
  if (found.reason !== null) return BROKEN;
  const tail = found.tailSeconds;
  if (found.last === null || tail === null || tail > TAIL) return UNSIGNED;
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
