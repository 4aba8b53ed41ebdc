/** Answers about backtests that the OpenAPI document calls free objects, as the server makes them. */
import type { Schemas } from "~/api/client";

export interface Measure {
  value: number | string | null;
  display_name: string;
  type: string;
  explanation?: string;
  reason?: string | null;
}

export interface Status {
  successful: boolean | null;
  status_summary: string | null;
  status_details: string | null;
  time_elapsed: number | null;
}

export interface Trials {
  count: number;
  sharpe: number | null;
  expected_best: number | null;
  deflated_sharpe: number | null;
  explanation: string;
  reason: string | null;
}

export interface Basis {
  first: number | null;
  last: number | null;
  first_value: number | null;
  last_value: number | null;
  notes: {
    sent: number;
    missing: number;
    duplicates: number;
    impossible: number;
    unsorted: boolean;
  };
  days: number;
  periods_per_year: number | null;
  reason: string | null;
}

export interface Backtest {
  backtest_id: string;
  created_at: number;
  label: string | null;
  description: string | null;
  status: Status | null;
  metrics: {
    computed: Record<string, Measure>;
    custom: Record<string, Measure>;
    computing: boolean;
  };
  counts: { account_values: number; trades: number };
  /** From here on only once a result arrived. */
  symbols?: string[];
  quote_asset?: string;
  start_time?: number | string | null;
  stop_time?: number | string | null;
  exchange?: string;
  indicators?: Record<string, unknown>;
  trials?: Trials;
  basis?: Basis | null;
}

export interface Trade {
  index: number;
  symbol: string;
  side: string;
  time: number;
  price?: number | null;
  size?: number | null;
  [more: string]: unknown;
}

export interface Point {
  time: number;
  value: number | null;
}

export interface ComparedSeries {
  backtest_id: string;
  label: string | null;
  first: number | null;
  last: number | null;
  values: (number | null)[];
  reason: string | null;
}

export interface ComparedMeasure {
  name: string;
  display_name: string;
  type: string;
  explanation: string;
  values: (number | null)[];
  best: number[];
}

export interface Comparison {
  align: "time" | "start";
  times: number[];
  items: ComparedSeries[];
  metrics: ComparedMeasure[];
}

export type Arguments = Record<string, unknown>;

export type Run = Omit<Schemas["ShownRun"], "arguments"> & { arguments: Arguments | null };

export type Version = Omit<Schemas["ShownVersion"], "backtest_args"> & {
  backtest_args: Arguments | null;
};

/** Up to so many are compared at once. */
export const MOST_COMPARED = 8;
