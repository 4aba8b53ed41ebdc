/**
 * Shapes of answers that the OpenAPI document does not describe yet: the profit-and-loss routes and
 * the lists of free objects. Replace each by its generated type once it is there.
 */

import { Problem, problemOf } from "./problem";
import { isUnknown, session } from "./session";

export interface Point {
  time: number;
  value: number;
}

export interface Position {
  symbol: string;
  currency: string;
  size: number;
  average_price: number | null;
  last_price: number | null;
  last_price_time: number | null;
  value: number;
  realized: number;
  unrealized: number;
  fees: number;
  fills: number;
  estimated: number;
  assumed: number;
}

export interface Mark {
  kind: "version" | "downtime";
  time: number;
  until: number | null;
  version: number | null;
  version_id: string | null;
  run_id: string;
  reason: string;
}

export interface Warned {
  code: "oversold" | "unpriced";
  message: string;
  order_id: string;
  symbol: string;
  time: number;
  size: number | null;
}

export interface Money {
  realized: number;
  unrealized: number;
  fees: number;
  fills: number;
}

export interface Pnl {
  source: "computed" | "model" | "off";
  currency: string | null;
  realized: number | null;
  unrealized: number | null;
  fees: number | null;
  by_currency: Record<string, Money>;
  positions: Position[];
  series: Point[];
  series_currency: string | null;
  marks: Mark[];
  warnings: Warned[];
  counts: { fills: number; estimated: number; assumed: number; oversold: number; unpriced: number };
}

export interface Lifecycle {
  message: string | null;
  start_at: number | null;
  end_at: number | null;
  running: boolean | null;
}

export interface LastOrder {
  id: string;
  type: string | null;
  symbol: string | null;
  side: string | null;
  size: number | null;
  funds: number | null;
  price: number | null;
  status: string | null;
  time: number | null;
  received_at: number | null;
}

export interface Glance {
  id: string;
  project_id: string;
  name: string;
  type: string;
  general_description: string;
  created_at: number;
  lifecycle: Lifecycle;
  version: { version: number; version_id: string; description: string; created_at: number } | null;
  last_order: LastOrder | null;
  pnl: {
    source: Pnl["source"];
    currency: string | null;
    value: number | null;
    realized: number | null;
    unrealized: number | null;
    fees: number | null;
  };
  last_backtest: {
    backtest_id: string;
    created_at: number;
    successful: boolean | null;
    status_summary: string;
    label: string | null;
  } | null;
}

export interface Fill {
  price: number | null;
  size: number | null;
  time: number | null;
  fee: number | null;
  realized?: number | null;
  estimated?: boolean;
  assumed?: boolean;
  unpriced?: boolean;
  oversold?: number;
}

export interface Order {
  id: string;
  type: string;
  symbol: string;
  exchange: string;
  side: string;
  size: number | null;
  funds: number | null;
  price: number | null;
  active: number | null;
  annotation: string | null;
  status: string | null;
  time: number;
  received_at: number;
  seq: number;
  fill: Fill | null;
  late_by?: number | null;
  [more: string]: unknown;
}

export interface Line {
  line: string;
  type: string;
  time: number;
  received_at: number;
  seq: number;
  run_id?: string;
}

export interface Happening {
  type: string;
  time: number;
  received_at: number;
  seq: number;
  args?: unknown;
  response?: unknown;
  annotation?: unknown;
  [more: string]: unknown;
}

export interface Screened {
  result: Record<string, Record<string, unknown>> | null;
  time: number | null;
  received_at: number | null;
  seq?: number;
}

export interface Metric {
  value: number | string | null;
  display_name: string;
  type: string;
  explanation?: string;
  reason?: string | null;
}

export interface Metrics {
  computed: Record<string, Metric>;
  custom: Record<string, Metric>;
}

export interface Backtest {
  backtest_id: string;
  description?: string | null;
  label?: string | null;
  created_at?: number;
  symbols?: string[];
  quote_asset?: string;
  status: {
    successful: boolean;
    status_summary: string;
    status_details: string;
    time_elapsed: number | null;
  } | null;
  [more: string]: unknown;
}

export interface Page<T> {
  items: T[];
  next: string | null;
}

type Query = Record<string, string | number | null | undefined>;

/** A GET whose answer has one of the shapes above. */
export async function look<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const said = Object.entries(query).filter(([, value]) => value != null && value !== "");
  const search = new URLSearchParams(said.map(([name, value]) => [name, String(value)]));
  const asked = Date.now();
  const response = await fetch(search.size ? `${path}?${search}` : path, signal ? { signal } : {});
  if (!response.ok) {
    const problem = await problemOf(response);
    if (isUnknown(problem)) await session.refused("GET", asked);
    throw problem;
  }
  return (await response.json()) as T;
}

export const NO_PNL: Pnl = {
  source: "off",
  currency: null,
  realized: null,
  unrealized: null,
  fees: null,
  by_currency: {},
  positions: [],
  series: [],
  series_currency: null,
  marks: [],
  warnings: [],
  counts: { fills: 0, estimated: 0, assumed: 0, oversold: 0, unpriced: 0 },
};

/** A server without the route answers as if there were nothing to tell. */
export async function lookIfThere<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && error.code === "no_such_page") return otherwise;
    throw error;
  }
}
