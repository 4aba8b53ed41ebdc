/** A model's status, from its run and from the lifecycle it reports. */

import type { Schemas } from "~/api/client";
import type { Lifecycle } from "~/api/types";

export type Tone = "good" | "busy" | "warn" | "bad" | "idle";

export interface Status {
  tone: Tone;
  label: string;
  /** The reason, if there is one. */
  detail: string;
  /** Whether there is a run to stop. */
  isUp: boolean;
}

type RunFacts = Pick<
  Schemas["ShownRun"],
  "state" | "reason" | "restarts" | "kind" | "schedule" | "trouble" | "silent_host" | "hold"
>;

const STATES: Record<string, [Tone, string, boolean]> = {
  pending: ["busy", "Queued", true],
  installing: ["busy", "Installing", true],
  running: ["good", "Running", true],
  restarting: ["busy", "Restarting", true],
  unreachable: ["bad", "Host silent", true],
  stopping: ["busy", "Stopping", true],
  stopped: ["idle", "Stopped", false],
  exited: ["idle", "Exited", false],
  crashed: ["bad", "Crashed", false],
  failed: ["bad", "Failed", false],
};
/** Messages that the platform writes; any other message comes from the model. */
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
      return {
        tone: "good",
        label: said || "Running",
        detail: "Runs outside this server.",
        isUp: false,
      };
    return { tone: "idle", label: said || "Not deployed", detail: "", isUp: false };
  }
  const [tone, label, isUp] = STATES[run.state] ?? ["idle", run.state, false];
  const own = said && !OURS.has(said) && isUp ? said : "";
  if (run.hold)
    return { tone: "idle", label: "On hold", detail: `This server is ${run.hold}`, isUp: false };
  const kept = keptBy(run);
  if (kept) return { ...kept, isUp };
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

/** What keeps a run from going on that is no fault of its own: a silent host, or none with room. */
export function keptBy(
  run: Pick<RunFacts, "trouble" | "silent_host">,
): Pick<Status, "tone" | "label" | "detail"> | null {
  if (!run.trouble) return null;
  return run.silent_host
    ? { tone: "bad", label: "Host silent", detail: run.trouble }
    : { tone: "warn", label: "Waiting", detail: run.trouble };
}

/** Sort order: models that need attention first, then running ones. */
export function urgency(status: Status): number {
  return { bad: 0, warn: 1, busy: 2, good: 3, idle: 4 }[status.tone];
}
