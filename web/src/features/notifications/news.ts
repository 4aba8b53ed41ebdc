/** What is worth a notification, from two looks at a project. Pure. */
import type { DeployedRun } from "~/api/queries";

export type Topic = "trouble" | "orders" | "server";

export interface News {
  topic: Topic;
  title: string;
  body: string;
  /** The page that shows more. */
  path: string;
  /** News with the same tag replace each other. */
  tag: string;
}

export type Seen = Pick<
  DeployedRun,
  | "model_id"
  | "run_id"
  | "state"
  | "desired"
  | "reason"
  | "restarts"
  | "ended_at"
  | "trouble"
  | "silent_host"
>;

/** What happened to the models of a project between two looks at their runs. */
export function newsOfRuns(
  before: readonly Seen[],
  now: readonly Seen[],
  nameOf: (model: string) => string,
  project: string,
): News[] {
  const earlier = new Map(before.map((run) => [run.model_id, run]));
  return now.flatMap((run) => {
    const old = earlier.get(run.model_id);
    const said = old ? changeOf(old, run) : null;
    if (!said) return [];
    const [what, body] = said;
    return {
      topic: "trouble" as const,
      title: `${nameOf(run.model_id)} ${what}`,
      body,
      path: `/${project}/${run.model_id}/overview`,
      tag: `run ${run.model_id}`,
    };
  });
}

function changeOf(old: Seen, run: Seen): [what: string, body: string] | null {
  const isSame = old.run_id === run.run_id;
  const wasOver = isSame && old.ended_at !== null;
  if (!wasOver && run.ended_at !== null) return endOf(run);
  if (isSame && run.restarts > old.restarts)
    return ["crashed", run.reason || `It restarts, for the ${ordinal(run.restarts)} time.`];
  if (run.trouble && !(isSame && old.trouble))
    return [run.silent_host ? "has a silent host" : "waits for a host", run.trouble];
  return null;
}

/** Somebody who stops a model knows that it stopped. */
function endOf(run: Seen): [string, string] | null {
  if (run.state === "failed") return ["could not start", run.reason];
  if (run.state === "crashed") return ["has given up", run.reason || "It crashed too often."];
  if (run.state === "exited" && run.desired !== "stopped")
    return ["stopped by itself", run.reason || "Its program ended."];
  return null;
}

function ordinal(count: number): string {
  const last = count % 100 > 10 && count % 100 < 14 ? 0 : count % 10;
  return `${count}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

export interface Filled {
  id: string;
  symbol: string | null;
  side: string | null;
  fill: { size: number | null; price: number | null } | null;
}

/** How much of each order was filled, by its id. */
export type Fills = ReadonlyMap<string, number>;

export function fillsOf(orders: readonly Filled[]): Fills {
  return new Map(orders.map((order) => [order.id, amount(order)]));
}

/** A fill whose size nobody knows is a whole one. */
function amount({ fill }: Filled): number {
  return fill ? (fill.size ?? Number.POSITIVE_INFINITY) : 0;
}

/** The orders of which more is filled than before; all that are new count from nothing. */
export function newlyFilled(before: Fills, orders: readonly Filled[]): Filled[] {
  return orders.filter((order) => amount(order) > (before.get(order.id) ?? 0));
}
