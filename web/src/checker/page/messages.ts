/** What the page and its worker say to each other. */
import type { Report } from "../record/words";

/** A file of the reader, or an address that the worker fetches. */
export type Source = { file: Blob } | { url: string };

export interface CheckRequest {
  type: "check";
  source: Source;
  earlier: Blob | null;
  /** Files with certificates of time-stamp authorities. */
  certificates: Blob[];
  /** Fingerprints of keys that the reader knows. */
  keys: string[];
  /** Address of a server whose published keys the reader trusts. */
  server: string;
}

/** Only the signer, of a record that was checked before. */
export interface JudgeRequest {
  type: "judge";
  keys: string[];
  server: string;
}

export type Request = CheckRequest | JudgeRequest;

export interface Progress {
  type: "progress";
  bytes: number;
  /** From 0 to 1. */
  share: number;
}

export type Answer =
  | Progress
  | { type: "done"; report: Report }
  /** Something that says nothing about the record, such as an address that does not answer. */
  | { type: "failed"; why: string };
