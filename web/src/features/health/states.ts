/** The three states of a check in words, and the order in which an operator wants to see them. */
import type { Schemas } from "~/api/client";

export type Row = Schemas["Row"];
export type State = Row["state"];

export const SUMMARY: Record<State, string> = {
  green: "All is well.",
  yellow: "Something needs a look.",
  red: "Something does not work.",
};
export const WORDS: Record<State, string> = {
  green: "fine",
  yellow: "needs a look",
  red: "does not work",
};
const ORDER: State[] = ["red", "yellow", "green"];

/** The worst first; rows of one state stay in the order of the server. */
export function byUrgency(rows: Row[]): Row[] {
  return ORDER.flatMap((state) => rows.filter((row) => row.state === state));
}
