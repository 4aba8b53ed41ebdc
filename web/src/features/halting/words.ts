/** What a halt has come to, in words. */
import { plural } from "~/format/numbers";
import type { Halt, Outcome } from "./queries";

export function summary(halt: Halt): string {
  const all = halt.models.length;
  if (all === 0) return "Nothing was running.";
  if (halt.stopped === all) {
    const who = all === 1 ? "The model is stopped" : `All ${all} are stopped`;
    const told = halt.models.filter(({ run_id }) => run_id === null).length;
    if (told === all) return `${who}, by ${all === 1 ? "its" : "their"} own word.`;
    return told ? `${who}, ${told} of them by their own word.` : `${who}, with proof.`;
  }
  const said = [`${halt.stopped} of ${plural(all, "model")} stopped`];
  if (halt.stopping) said.push(`${halt.stopping} stopping`);
  if (halt.unknown) said.push(`${halt.unknown} not known to be stopped`);
  return `${said.join(", ")}.`;
}

export const STATES: Record<Outcome["state"], string> = {
  stopped: "Stopped",
  stopping: "Stopping",
  unknown: "Not known to be stopped",
};

/** Each sentence is one fact that somebody could look at again. */
export function proofs({ proof, run_id }: Outcome): string[] {
  if (!proof) return [];
  if (proof.never_launched) return ["There was no process."];
  if (run_id === null) return ["By its own word: it runs elsewhere."];
  return [
    ...(proof.withdrawn ? ["Its start was withdrawn, and no host has it."] : []),
    ...(proof.lease_ended_at ? ["Its lease has run out, and its shim ends it before that."] : []),
    ...(proof.lock_is_free ? ["The kernel says that its lock is free."] : []),
    ...(proof.processes === 0 ? ["No process is left in its control group."] : []),
    ...(proof.key === "refused" ? ["Its key is refused."] : []),
  ];
}
