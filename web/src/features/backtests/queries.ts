/** What the pages of backtests ask for. Keys begin like all others of a model; see live/refresh. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, given, type Schemas, said } from "~/api/client";
import type { View } from "~/charts/panes";

const POINTS = 2_000;
/** Trades are marked on the chart, the last ones of so many pages. */
const TRADE_PAGES = 5;
const WHOLE_PAGE = 1_000;

export type Indicator = Schemas["Indicator"];
export type RoundTrip = Schemas["IndexedTrip"];
export type TripSummary = Schemas["Trips"];

const of = (model: string, backtest: string) => ({ path: { model, backtest } });
/** Not under `backtests`: news of another backtest must not load this one's curves again. */
export const keyOf = (model: string, id: string) => ["model", model, "backtest", id] as const;

export const list = (model: string) =>
  infiniteQueryOptions({
    queryKey: ["model", model, "backtests", "list"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      given(
        api.GET("/api/models/{model}/backtests", {
          params: { path: { model }, query: said({ limit: 100, cursor: pageParam }) },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next,
  });

/** The runs that made them: their states, and what they were called with. */
export const runs = (model: string) =>
  queryOptions({
    queryKey: ["model", model, "runs", "of backtests"],
    queryFn: async ({ signal }) =>
      (
        await given(
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
      const found = await given(
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
      given(api.GET("/api/models/{model}/backtests/{backtest}", { params: of(model, id), signal })),
  });

export const equity = (model: string, id: string, view: View | null) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "equity", view],
    queryFn: ({ signal }) =>
      given(
        api.GET("/api/models/{model}/backtests/{backtest}/equity", {
          params: { ...of(model, id), query: stretch(view) },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const drawdown = (model: string, id: string, view: View | null) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "drawdown", view],
    queryFn: ({ signal }) =>
      given(
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
      given(
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
      given(
        api.GET("/api/models/{model}/backtests/{backtest}/rolling", {
          params: { ...of(model, id), query: stretch(null) },
          signal,
        }),
      ),
  });

/** It answers once the figures are there, however long that takes. */
export const periods = (model: string, id: string) =>
  queryOptions({
    queryKey: [...keyOf(model, id), "periods"],
    queryFn: ({ signal }) =>
      given(
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
        const answer: Schemas["Listed_BacktestTrade_"] = await given(
          api.GET("/api/models/{model}/backtests/{backtest}/trades", {
            params: { ...of(model, id), query: said({ limit: WHOLE_PAGE, cursor }) },
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

export const roundTrips = (model: string, id: string) =>
  infiniteQueryOptions({
    queryKey: [...keyOf(model, id), "round-trips"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      given(
        api.GET("/api/models/{model}/backtests/{backtest}/round-trips", {
          params: { ...of(model, id), query: said({ limit: 200, cursor: pageParam }) },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next,
  });

/** In detail, each still counts from its own start, so that it fits the whole. */
export const comparison = (
  model: string,
  ids: readonly string[],
  align: "time" | "start",
  view: View | null,
) =>
  queryOptions({
    queryKey: ["model", model, "backtests", "compared", ids, align, view],
    queryFn: ({ signal }) =>
      given(
        api.GET("/api/models/{model}/backtests-compare", {
          params: {
            path: { model },
            query: said({
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
        await given(
          api.GET("/api/models/{model}/versions", {
            params: { path: { model }, query: { limit: 100 } },
            signal,
          }),
        )
      ).items,
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
  return `/api/models/${model}/backtests/${encodeURIComponent(id)}/${name}`;
}

function stretch(view: View | null) {
  return said({ points: POINTS, from: view?.from, to: view?.to });
}
