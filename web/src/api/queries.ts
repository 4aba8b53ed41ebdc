/** The queries of the pages. A key starts with its owner, so that one event refreshes all of them. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { plainText, terminalLines } from "~/format/terminal";
import { api, type Schemas, unwrap, withoutEmpty } from "./client";

export interface OrderFilter {
  symbol: string;
  side: string;
}

export interface Window {
  from: number;
  to: number;
}

/** How many points a chart loads at once; zooming in loads more detail. */
export const CHART_POINTS = 2_000;
/** How many orders a model's first page shows. */
export const NEWEST = 8;
/** How many values of the account it compares. */
const DIFFERENCES = 12;
/** How many changes after the fact it shows at first. */
const CHANGES = 20;

export const me = queryOptions({
  queryKey: ["me"],
  queryFn: () => unwrap(api.GET("/api/me")),
  staleTime: 60_000,
});

export const health = queryOptions({
  queryKey: ["health"],
  queryFn: () => unwrap(api.GET("/api/health")),
});

export const retention = (id: string) =>
  queryOptions({
    queryKey: ["project", id, "retention"],
    queryFn: () =>
      unwrap(api.GET("/api/projects/{project}/retention", { params: { path: { project: id } } })),
  });

/** Milliseconds. That the host of a run fell silent is not on the tape: no stream tells it. */
const HOSTS_ASKED_EVERY = 3_000;
const goesOn = (run: { host?: string | null; ended_at: number | null } | null | undefined) =>
  Boolean(run?.host && run.ended_at === null);

export const models = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "models"],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/projects/{project}/models", { params: { path: { project } }, signal }),
        )
      ).items,
  });

export const deployed = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "runs"],
    queryFn: async () =>
      (await unwrap(api.GET("/api/projects/{project}/runs", { params: { path: { project } } })))
        .items,
    refetchInterval: ({ state }) => (state.data?.some(goesOn) ? HOSTS_ASKED_EVERY : false),
  });

export const members = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "members"],
    queryFn: async () =>
      (await unwrap(api.GET("/api/projects/{project}/members", { params: { path: { project } } })))
        .items,
  });

export const invitations = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "invitations"],
    queryFn: async () =>
      (
        await unwrap(
          api.GET("/api/projects/{project}/invitations", { params: { path: { project } } }),
        )
      ).items,
  });

export const keys = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "keys"],
    queryFn: async () =>
      (await unwrap(api.POST("/project/list-tokens", { body: { projectId: project } }))).keys,
  });

export const projectAudit = (project: string) =>
  infiniteQueryOptions({
    queryKey: ["project", project, "audit"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET("/api/projects/{project}/audit", {
          params: {
            path: { project },
            query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) },
          },
        }),
      ),
    getNextPageParam: (page) => page.next ?? null,
  });

export const signIns = queryOptions({
  queryKey: ["me", "sign-ins"],
  queryFn: async () => (await unwrap(api.GET("/api/me/sign-ins"))).items,
});

export const plans = queryOptions({
  queryKey: ["plans", "live"],
  queryFn: () => unwrap(api.POST("/project/plans", { body: { type: "live" } })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const pythons = queryOptions({
  queryKey: ["pythons"],
  queryFn: async () => (await unwrap(api.GET("/api/pythons"))).items,
  staleTime: Number.POSITIVE_INFINITY,
});

export const starters = queryOptions({
  queryKey: ["starters"],
  queryFn: () => unwrap(api.GET("/model/starter-models")),
  staleTime: Number.POSITIVE_INFINITY,
});

export const model = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "facts"],
    queryFn: () => unwrap(api.GET("/api/models/{model}", { params: { path: { model: id } } })),
    refetchInterval: ({ state }) => (goesOn(state.data?.run) ? HOSTS_ASKED_EVERY : false),
  });

export const pnl = (id: string, points: number, window: Window | null, currency: string | null) =>
  queryOptions({
    queryKey: ["model", id, "pnl", points, window, currency],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/pnl", {
          params: {
            path: { model: id },
            query: withoutEmpty({ points, from: window?.from, to: window?.to, currency }),
          },
          signal,
        }),
      ),
  });

/** The account in few points: what its value on the exchange leaves unexplained. */
export const reportedAccount = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "pnl", "account"],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/performance", {
          params: { path: { model: id }, query: { points: DIFFERENCES } },
          signal,
        }),
      ),
  });

/** What was reported or changed after the fact; new prices alone do not refresh it. */
export const changes = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "metrics", "changes"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/models/{model}/changes", {
          params: {
            path: { model: id },
            query: withoutEmpty({ limit: CHANGES, cursor: pageParam }),
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? null,
  });

/** Orders before or after one, or the newest. */
export function orders(
  id: string,
  asked: OrderFilter & {
    limit: number;
    cursor?: string | null;
    after?: number | null;
    since?: number;
    until?: number;
  },
  signal?: AbortSignal,
) {
  return unwrap(
    api.GET("/api/models/{model}/orders", {
      params: { path: { model: id }, query: withoutEmpty(asked) },
      ...(signal ? { signal } : {}),
    }),
  );
}

/** The symbols of all orders, for their filter. */
export const orderSymbols = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "orders", "symbols"],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/models/{model}/orders/symbols", {
            params: { path: { model: id } },
            signal,
          }),
        )
      ).items,
  });

export const newestOrders = (id: string, limit: number) =>
  queryOptions({
    queryKey: ["model", id, "orders", "newest", limit],
    queryFn: async ({ signal }) =>
      (await orders(id, { symbol: "", side: "", limit }, signal)).items,
  });

/** Orders to mark on a chart, counted by the server where they are many. */
export const orderMarks = (id: string, window: Window | null) =>
  queryOptions({
    queryKey: ["model", id, "orders", "marks", window],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/orders/marks", {
          params: {
            path: { model: id },
            query: withoutEmpty({ from: window?.from, to: window?.to }),
          },
          signal,
        }),
      ),
  });

/** Bars or a line, indicators and fills of a symbol. Without a window, the newest bars. */
export const prices = (
  id: string,
  asked: { symbol: string; interval: string; points: number; window: Window | null },
) =>
  queryOptions({
    queryKey: ["model", id, "pnl", "prices", asked],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/prices", {
          params: {
            path: { model: id },
            query: withoutEmpty({
              symbol: asked.symbol,
              interval: asked.interval,
              points: asked.points,
              from: asked.window?.from,
              to: asked.window?.to,
            }),
          },
          signal,
        }),
      ),
  });

export const events = (id: string, type: string, q: string) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "events", type, q],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/models/{model}/events", {
          params: {
            path: { model: id },
            query: withoutEmpty({ limit: 100, cursor: pageParam, type, q }),
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next,
  });

export const screener = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "screener", "latest"],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/models/{model}/screener", { params: { path: { model: id } }, signal })),
  });

export const screenerHistory = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "screener", "history"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/models/{model}/screener/history", {
          params: { path: { model: id }, query: withoutEmpty({ limit: 50, cursor: pageParam }) },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next,
  });

export const metrics = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "metrics"],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/models/{model}/metrics", { params: { path: { model: id } }, signal })),
  });

export const versions = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "versions"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET("/api/models/{model}/versions", {
          params: {
            path: { model: id },
            query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) },
          },
        }),
      ),
    getNextPageParam: (page) => page.next ?? null,
  });

/** `kind`: only these; empty for all. */
export const runs = (id: string, kind: string) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "runs", kind],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET("/api/models/{model}/runs", {
          params: {
            path: { model: id },
            query: withoutEmpty({ limit: 50, cursor: pageParam, kind }),
          },
        }),
      ),
    getNextPageParam: (page) => page.next ?? null,
  });

/** The last line that a model wrote to its standard error, which after a crash is the exception. */
export const lastError = (id: string, restarts: number) =>
  queryOptions({
    queryKey: ["model", id, "logs", "last error", restarts],
    queryFn: async ({ signal }) => {
      const query = { type: "stderr", limit: 10 };
      const params = { path: { model: id }, query };
      const { items } = await unwrap(api.GET("/api/models/{model}/logs", { params, signal }));
      for (const { line } of items) {
        const written = terminalLines(line)
          .map(plainText)
          .findLast((one) => one.trim());
        if (written) return written.trim();
      }
      return null;
    },
  });

/** The account behind a model: its capital, and whether positions may be negative. */
export const account = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "account"],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/models/{model}/account", { params: { path: { model: id } }, signal })),
  });

export const secrets = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "secrets"],
    queryFn: async () =>
      (await unwrap(api.GET("/api/models/{model}/secrets", { params: { path: { model: id } } })))
        .items,
  });

/** The links to a model's record and to its backtests, newest first. */
export const shares = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "shares"],
    queryFn: async () =>
      (await unwrap(api.GET("/api/models/{model}/shares", { params: { path: { model: id } } })))
        .items,
  });

export type Me = Schemas["Me"];
export type Project = Schemas["OwnProject"];
export type KindUsage = Schemas["KindUsage"];
export type Model = Schemas["ShownModel"];
export type Run = Schemas["CurrentRun"];
export type DeployedRun = Schemas["DeployedRun"];
export type Version = Schemas["ShownVersion"];

/** One run, whether or not it is the current one. */
export const oneRun = (id: string, run: string) => () =>
  unwrap(api.GET("/api/models/{model}/runs/{run}", { params: { path: { model: id, run } } }));
