/** What the pages of backtests ask for. Keys begin like all others of a model; see live/refresh. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, given, type Schemas } from "~/api/client";
import { look, type Page } from "~/api/pending";
import type { View } from "~/charts/panes";
import type { Backtest, Comparison, Point, Run, Trade, Version } from "./shapes";

const POINTS = 2_000;
/** Trades are marked on the chart, the last ones of so many pages. */
const TRADE_PAGES = 5;
const WHOLE_PAGE = 1_000;

export interface Drawn {
  items: Point[];
  total: number;
}

export interface Indicator extends Drawn {
  name: string;
  display_name: string;
  type: string;
}

export type RoundTrip = Schemas["IndexedTrip"];
export type TripSummary = Schemas["Trips"];

const base = (model: string) => `/api/models/${model}/backtests`;
const of = (model: string, id: string) => `${base(model)}/${encodeURIComponent(id)}`;
/** Not under `backtests`: news of another backtest must not load this one's curves again. */
export const keyOf = (model: string, id: string) => ["model", model, "backtest", id] as const;

export const list = (model: string) =>
  infiniteQueryOptions({
    queryKey: ["model", model, "backtests", "list"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      look<Page<Backtest>>(base(model), { limit: 100, cursor: pageParam }, signal),
    getNextPageParam: (page) => page.next,
  });

/** The runs that made them: their states, and what they were called with. */
export const runs = (model: string) =>
  queryOptions({
    queryKey: ["model", model, "runs", "of backtests"],
    queryFn: async ({ signal }) =>
      (
        await look<Page<Run>>(
          `/api/models/${model}/runs`,
          { kind: "backtest", limit: WHOLE_PAGE },
          signal,
        )
      ).items,
  });

export const run = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "run"],
    queryFn: async ({ signal }) => {
      const found = await look<Page<Run>>(
        `/api/models/${model}/runs`,
        { backtest: id, limit: 1 },
        signal,
      );
      return found.items[0] ?? null;
    },
  });

export const facts = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "facts"],
    queryFn: ({ signal }) => look<Backtest>(of(model, id), {}, signal),
  });

export const equity = (model: string, id: string, view: View | null) =>
  series<Drawn>(model, id, "equity", view);

export const drawdown = (model: string, id: string, view: View | null) =>
  series<Schemas["DrawdownSeries"]>(model, id, "drawdown", view);

export const indicators = (model: string, id: string, view: View | null) =>
  series<Page<Indicator>>(model, id, "indicators", view);

export const rolling = (model: string, id: string) =>
  series<Schemas["Rolling"]>(model, id, "rolling", null);

/** It answers once the figures are there, however long that takes. */
export const periods = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "periods"],
    queryFn: ({ signal }) => look<Schemas["Periods"]>(`${of(model, id)}/periods`, {}, signal),
  });

export const trades = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "trades"],
    queryFn: async ({ signal }) => {
      const found: Trade[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < TRADE_PAGES; page += 1) {
        const answer: Page<Trade> = await look<Page<Trade>>(
          `${of(model, id)}/trades`,
          { limit: WHOLE_PAGE, cursor },
          signal,
        );
        found.push(...answer.items);
        cursor = answer.next;
        if (cursor === null) break;
      }
      return { items: found, isAll: cursor === null };
    },
  });

export const roundTrips = (model: string, id: string) =>
  infiniteQueryOptions({
    queryKey: [...keyOf(model, id), "round-trips"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      look<Schemas["RoundTrips"]>(
        `${of(model, id)}/round-trips`,
        { limit: 200, cursor: pageParam },
        signal,
      ),
    getNextPageParam: (page) => page.next,
  });

export const comparison = (
  model: string,
  ids: readonly string[],
  align: "time" | "start",
  view: View | null,
) =>
  queryOptions({
    queryKey: ["model", model, "backtests", "compared", ids, align, view],
    queryFn: ({ signal }) =>
      look<Comparison>(
        `/api/models/${model}/backtests-compare`,
        { ids: ids.join(","), align, points: 1_000, from: view?.from, to: view?.to },
        signal,
      ),
    placeholderData: keepPreviousData,
  });

export const versions = (model: string) =>
  queryOptions({
    queryKey: ["model", model, "versions", "to test"],
    queryFn: async ({ signal }) =>
      (await look<Page<Version>>(`/api/models/${model}/versions`, { limit: 100 }, signal)).items,
  });

export const plans = queryOptions({
  queryKey: ["plans", "backtesting"],
  queryFn: () => given(api.POST("/project/plans", { body: { type: "backtesting" } })),
  staleTime: Number.POSITIVE_INFINITY,
});

export function change(
  model: string,
  id: string,
  words: { label?: string | null; description?: string | null },
) {
  const params = { path: { model, backtest: id } };
  return given(api.PATCH("/api/models/{model}/backtests/{backtest}", { params, body: words }));
}

export function remove(model: string, id: string) {
  const params = { path: { model, backtest: id } };
  return given(api.DELETE("/api/models/{model}/backtests/{backtest}", { params }));
}

export function stop(model: string, runId: string) {
  const params = { path: { model, run: runId } };
  return given(api.POST("/api/models/{model}/runs/{run}/stop", { params }));
}

export function start(said: {
  projectId: string;
  modelId: string;
  versionId: string;
  plan: string;
  backtestArgs: string;
  backtestDescription: string;
}) {
  return given(
    api.POST("/model/backtest-uploaded-model", { body: { ...said, type: null, schedule: null } }),
  );
}

/** Where a file of a backtest is. */
export function fileOf(model: string, id: string, name: string): string {
  return `${of(model, id)}/${name}`;
}

function series<T>(model: string, id: string, name: string, view: View | null) {
  return queryOptions({
    queryKey: [...keyOf(model, id), name, view],
    queryFn: ({ signal }) =>
      look<T>(
        `${of(model, id)}/${name}`,
        { points: POINTS, from: view?.from, to: view?.to },
        signal,
      ),
    placeholderData: keepPreviousData,
  });
}
