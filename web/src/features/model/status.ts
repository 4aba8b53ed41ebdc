/** What a model is doing, in one word and one tone, from its run and what it says of itself. */

import type { Schemas } from "~/api/client";
import type { Lifecycle } from "~/api/types";

export type Tone = "good" | "busy" | "bad" | "idle";

export interface Status {
  tone: Tone;
  label: string;
  /** Why, where there is a reason to tell. */
  detail: string;
  /** Whether there is something to stop. */
  isUp: boolean;
}

type RunFacts = Pick<Schemas["ShownRun"], "state" | "reason" | "restarts" | "kind" | "schedule">;

const STATES: Record<string, [Tone, string, boolean]> = {
  pending: ["busy", "Waiting", true],
  installing: ["busy", "Installing", true],
  running: ["good", "Running", true],
  restarting: ["busy", "Restarting", true],
  stopping: ["busy", "Stopping", true],
  stopped: ["idle", "Stopped", false],
  exited: ["idle", "Exited", false],
  crashed: ["bad", "Crashed", false],
  failed: ["bad", "Failed", false],
};
/** What the platform itself writes; any other message is the model's own. */
const OURS = new Set([
  "Deploying",
  "Installing Dependencies",
  "Running",
  "Restarting",
  "Stopped",
  "Exited",
  "Crashed",
  "Out of Memory",
  "Failed to Install",
]);

export function statusOf(run: RunFacts | null | undefined, lifecycle: Lifecycle): Status {
  const said = lifecycle.message ?? "";
  if (!run) {
    if (lifecycle.running)
      return { tone: "good", label: said || "Running", detail: "It runs elsewhere.", isUp: false };
    return { tone: "idle", label: said || "Not deployed", detail: "", isUp: false };
  }
  const [tone, label, isUp] = STATES[run.state] ?? ["idle", run.state, false];
  const own = said && !OURS.has(said) && isUp ? said : "";
  if (run.state === "pending" && run.schedule) {
    return {
      tone: "good",
      label: "Scheduled",
      detail: `Runs at ${run.schedule} (UTC).`,
      isUp: true,
    };
  }
  if (tone === "bad" && (said === "Out of Memory" || said === "Failed to Install")) {
    return { tone, label: said, detail: run.reason, isUp };
  }
  return { tone, label: own || label, detail: run.reason, isUp };
}

/** Models that ask for attention first, then those at work. */
export function urgency(status: Status): number {
  return { bad: 0, busy: 1, good: 2, idle: 3 }[status.tone];
}
