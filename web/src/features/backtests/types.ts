/** Short names for the types of backtests, which come from the OpenAPI document. */
import type { Schemas } from "~/api/client";

export type Measure = Schemas["OwnMetric"] &
  Partial<Pick<Schemas["Shown"], "explanation" | "reason">>;
export type Backtest = Schemas["ShownBacktest"];
export type Trials = Schemas["Deflated"];
export type Point = Schemas["Point"];
export type Comparison = Schemas["Comparison"];
export type ComparedMeasure = Schemas["ComparedMetric"];
export type Arguments = Record<string, unknown>;
export type Run = Schemas["ShownRun"];
export type Version = Schemas["ShownVersion"];

/** How many backtests can be compared at once. */
export const MOST_COMPARED = 8;
export type Benchmark = Schemas["ShownBenchmark"];
