/** The state of a backtest, from its run and from the status it sent. */
import { keptBy, type Tone } from "~/features/model/status";
import type { Backtest, Run } from "./types";

export interface Progress {
  tone: Tone;
  label: string;
  detail: string;
  /** Whether it can still be stopped. */
  isUp: boolean;
}

const STATES: Record<string, [Tone, string]> = {
  pending: ["busy", "Queued"],
  installing: ["busy", "Installing"],
  running: ["good", "Running"],
  restarting: ["busy", "Restarting"],
  unreachable: ["bad", "Host silent"],
  stopping: ["busy", "Stopping"],
};

export function progressOf(
  backtest: Pick<Backtest, "status" | "counts" | "symbols">,
  run: Run | null | undefined,
): Progress {
  const { status } = backtest;
  if (status) {
    const detail = status.status_summary ?? "";
    if (status.successful) return { tone: "idle", label: "Done", detail, isUp: false };
    const label = run?.state === "stopped" ? "Stopped" : "Failed";
    return { tone: "bad", label, detail, isUp: false };
  }
  const [tone, label] = STATES[run?.state ?? ""] ?? [];
  if (run && tone && label) {
    const kept = keptBy(run);
    if (run.desired === "stopped")
      return { tone: "busy", label: "Stopping", detail: kept?.detail ?? run.reason, isUp: false };
    return { tone, label, detail: run.reason, ...kept, isUp: true };
  }
  if (backtest.symbols)
    return {
      tone: "idle",
      label: "Result",
      detail: "The backtest sent a result but no status.",
      isUp: false,
    };
  if (run) return { tone: "bad", label: "Ended", detail: run.reason, isUp: false };
  return {
    tone: "busy",
    label: "In progress",
    detail: "The backtest runs elsewhere and has sent no result yet.",
    isUp: false,
  };
}

export interface Row {
  backtest: Backtest;
  run: Run | null;
  progress: Progress;
}

/** Backtests with the runs that made them. */
export function joined(backtests: readonly Backtest[], runs: readonly Run[]): Row[] {
  const byBacktest = new Map(runs.map((run) => [run.backtest_id, run]));
  return backtests.map((backtest) => {
    const run = byBacktest.get(backtest.backtest_id) ?? null;
    return { backtest, run, progress: progressOf(backtest, run) };
  });
}

/** Its label, or else its description, or else its id. */
export function nameOf(
  backtest: Pick<Backtest, "label" | "description" | "backtest_id">,
  run?: Run | null,
): string {
  return (
    backtest.label ||
    backtest.description ||
    run?.description ||
    `Backtest ${backtest.backtest_id.slice(0, 8)}`
  );
}
