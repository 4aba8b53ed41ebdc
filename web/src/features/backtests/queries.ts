/** The queries of the backtest pages. Keys start like all others of a model; see live/refresh. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap, withoutEmpty } from "~/api/client";
import type { View } from "~/charts/panes";
import type { Benchmark } from "./types";

const POINTS = 2_000;
/** The chart marks the trades of at most this many pages, the latest ones. */
const TRADE_PAGES = 5;
const WHOLE_PAGE = 1_000;
/** Bars of a price chart in one answer. */
const PRICE_BARS = 1_000;

export type Indicator = Schemas["Indicator"];
export type RoundTrip = Schemas["IndexedTrip"];
export type TripSummary = Schemas["Trips"];

const of = (model: string, backtest: string) => ({ path: { model, backtest } });
/** Not under `backtests`: an event of another backtest must not reload this one's curves. */
export const keyOf = (model: string, id: string) => ["model", model, "backtest", id] as const;

export const list = (model: string) =>
  infiniteQueryOptions({
    queryKey: ["model", model, "backtests", "list"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests", {
          params: { path: { model }, query: withoutEmpty({ limit: 100, cursor: pageParam }) },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next,
  });

/** The runs of backtests, with their states and arguments. */
export const runs = (model: string) =>
  queryOptions({
    queryKey: ["model", model, "runs", "of backtests"],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/models/{model}/runs", {
            params: { path: { model }, query: { kind: "backtest", limit: WHOLE_PAGE } },
            signal,
          }),
        )
      ).items,
  });

export const run = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "run"],
    queryFn: async ({ signal }) => {
      const found = await unwrap(
        api.GET("/api/models/{model}/runs", {
          params: { path: { model }, query: { backtest: id, limit: 1 } },
          signal,
        }),
      );
      return found.items[0] ?? null;
    },
  });

export const facts = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "facts"],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests/{backtest}", { params: of(model, id), signal }),
      ),
  });

export const equity = (model: string, id: string, view: View | null) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "equity", view],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests/{backtest}/equity", {
          params: { ...of(model, id), query: stretch(view) },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

/** Asks for the returns of an account beside a benchmark; its key says of which account. */
export interface Comparing {
  key: readonly unknown[];
  ask: (name: string, signal: AbortSignal) => Promise<Benchmark | null>;
}

export const benchmarkOf = (model: string, id: string): Comparing => ({
  key: [...keyOf(model, id), "benchmark"],
  ask: async (name, signal) => {
    const params = { ...of(model, id), query: { points: 1_000, benchmark: name } };
    return (
      await unwrap(api.GET("/api/models/{model}/backtests/{backtest}/equity", { params, signal }))
    ).benchmark;
  },
});

export const liveBenchmark = (model: string): Comparing => ({
  key: ["model", model, "metrics", "benchmark"],
  ask: async (name, signal) => {
    const params = { path: { model }, query: { points: 1_000, benchmark: name } };
    return (await unwrap(api.GET("/api/models/{model}/performance", { params, signal }))).benchmark;
  },
});

export const drawdown = (model: string, id: string, view: View | null) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "drawdown", view],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests/{backtest}/drawdown", {
          params: { ...of(model, id), query: stretch(view) },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const indicators = (model: string, id: string, view: View | null) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "indicators", view],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests/{backtest}/indicators", {
          params: { ...of(model, id), query: stretch(view) },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const rolling = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "rolling"],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests/{backtest}/rolling", {
          params: { ...of(model, id), query: stretch(null) },
          signal,
        }),
      ),
  });

/** The server answers when the metrics are computed, however long that takes. */
export const periods = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "periods"],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests/{backtest}/periods", {
          params: of(model, id),
          signal,
        }),
      ),
  });

export const trades = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "trades"],
    queryFn: async ({ signal }) => {
      const found: Schemas["BacktestTrade"][] = [];
      let cursor: string | null = null;
      for (let page = 0; page < TRADE_PAGES; page += 1) {
        const answer: Schemas["Listed_BacktestTrade_"] = await unwrap(
          api.GET("/api/models/{model}/backtests/{backtest}/trades", {
            params: { ...of(model, id), query: withoutEmpty({ limit: WHOLE_PAGE, cursor }) },
            signal,
          }),
        );
        found.push(...answer.items);
        cursor = answer.next;
        if (cursor === null) break;
      }
      return { items: found, isAll: cursor === null };
    },
  });

export type BacktestPrices = Schemas["BacktestPrices"];
export type SentTrade = Schemas["BacktestTrade"];

/** A symbol's prices during a backtest, with its trades. Without a view, its whole period. */
export const prices = (
  model: string,
  id: string,
  asked: { symbol: string; interval: string; view: View | null },
) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "prices", asked],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests/{backtest}/prices", {
          params: {
            ...of(model, id),
            query: withoutEmpty({
              symbol: asked.symbol,
              interval: asked.interval,
              points: PRICE_BARS,
              from: asked.view?.from,
              to: asked.view?.to,
            }),
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

/** One trade with all that was sent about it, by its place in the list that was sent. */
export async function trade(model: string, id: string, index: number): Promise<SentTrade | null> {
  const params = { ...of(model, id), query: { limit: 1, cursor: String(index + 1) } };
  const found = await unwrap(
    api.GET("/api/models/{model}/backtests/{backtest}/trades", { params }),
  );
  return found.items.find((one) => one.index === index) ?? null;
}

export const roundTrips = (model: string, id: string) =>
  infiniteQueryOptions({
    queryKey: [...keyOf(model, id), "round-trips"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests/{backtest}/round-trips", {
          params: { ...of(model, id), query: withoutEmpty({ limit: 200, cursor: pageParam }) },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next,
  });

/** Detail still counts from each backtest's start, so that it fits the whole curve. */
export const comparison = (
  model: string,
  ids: readonly string[],
  align: "time" | "start",
  view: View | null,
) =>
  queryOptions({
    queryKey: ["model", model, "backtests", "compared", ids, align, view],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/backtests-compare", {
          params: {
            path: { model },
            query: withoutEmpty({
              ids: ids.join(","),
              align,
              base: "start",
              points: 1_000,
              from: view?.from,
              to: view?.to,
            }),
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const versions = (model: string) =>
  queryOptions({
    queryKey: ["model", model, "versions", "to test"],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/models/{model}/versions", {
            params: { path: { model }, query: { limit: 100 } },
            signal,
          }),
        )
      ).items,
  });

export const plans = queryOptions({
  queryKey: ["plans", "backtesting"],
  queryFn: () => unwrap(api.POST("/project/plans", { body: { type: "backtesting" } })),
  staleTime: Number.POSITIVE_INFINITY,
});

export function change(
  model: string,
  id: string,
  words: { label?: string | null; description?: string | null },
) {
  const params = { path: { model, backtest: id } };
  return unwrap(api.PATCH("/api/models/{model}/backtests/{backtest}", { params, body: words }));
}

export function remove(model: string, id: string) {
  const params = { path: { model, backtest: id } };
  return unwrap(api.DELETE("/api/models/{model}/backtests/{backtest}", { params }));
}

export function stop(model: string, runId: string) {
  const params = { path: { model, run: runId } };
  return unwrap(api.POST("/api/models/{model}/runs/{run}/stop", { params }));
}

export function start(said: {
  projectId: string;
  modelId: string;
  versionId: string;
  plan: string;
  backtestArgs: string;
  backtestDescription: string;
}) {
  return unwrap(
    api.POST("/model/backtest-uploaded-model", { body: { ...said, type: null, schedule: null } }),
  );
}

/** Where a file of a backtest is. */
export function fileOf(model: string, id: string, name: string): string {
  return `/api/models/${model}/backtests/${encodeURIComponent(id)}/${name}`;
}

function stretch(view: View | null) {
  return withoutEmpty({ points: POINTS, from: view?.from, to: view?.to });
}
