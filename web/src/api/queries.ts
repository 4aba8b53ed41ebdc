/** What pages ask for, by name. A key begins with whose it is, so that news of one refreshes all. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, given, type Schemas } from "./client";
import {
  type Backtest,
  type Glance,
  type Happening,
  type Lifecycle,
  look,
  lookIfThere,
  type Metrics,
  NO_PNL,
  type Order,
  type Page,
  type Pnl,
  type Screened,
} from "./pending";

export interface OrderFilter {
  symbol: string;
  side: string;
}

export interface Window {
  from: number;
  to: number;
}

const NO_RESULT = {
  source: "off",
  currency: null,
  value: null,
  realized: null,
  unrealized: null,
  fees: null,
} as const;

export const me = queryOptions({
  queryKey: ["me"],
  queryFn: () => given(api.GET("/api/me")),
  staleTime: 60_000,
});

export const models = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "models"],
    queryFn: async ({ signal }) => {
      const path = `/api/projects/${project}/models`;
      const found = await lookIfThere(look<Page<Glance>>(path, {}, signal), null);
      return found ? found.items : await plainModels(project);
    },
  });

export const deployed = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "runs"],
    queryFn: async () =>
      (await given(api.GET("/api/projects/{project}/runs", { params: { path: { project } } })))
        .items,
  });

export const members = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "members"],
    queryFn: async () =>
      (await given(api.GET("/api/projects/{project}/members", { params: { path: { project } } })))
        .items,
  });

export const invitations = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "invitations"],
    queryFn: async () =>
      (
        await given(
          api.GET("/api/projects/{project}/invitations", { params: { path: { project } } }),
        )
      ).items,
  });

export const keys = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "keys"],
    queryFn: async () =>
      (await given(api.POST("/project/list-tokens", { body: { projectId: project } }))).keys,
  });

export const projectAudit = (project: string) =>
  infiniteQueryOptions({
    queryKey: ["project", project, "audit"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      given(
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
  queryFn: async () => (await given(api.GET("/api/me/sign-ins"))).items,
});

export const plans = queryOptions({
  queryKey: ["plans", "live"],
  queryFn: () => given(api.POST("/project/plans", { body: { type: "live" } })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const pythons = queryOptions({
  queryKey: ["pythons"],
  queryFn: async () => (await given(api.GET("/api/pythons"))).items,
  staleTime: Number.POSITIVE_INFINITY,
});

export const starters = queryOptions({
  queryKey: ["starters"],
  queryFn: () => given(api.GET("/model/starter-models")),
  staleTime: Number.POSITIVE_INFINITY,
});

export const model = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "facts"],
    queryFn: () => given(api.GET("/api/models/{model}", { params: { path: { model: id } } })),
  });

export const pnl = (id: string, points: number, window: Window | null, currency: string | null) =>
  queryOptions({
    queryKey: ["model", id, "pnl", points, window, currency],
    queryFn: ({ signal }) =>
      lookIfThere(
        look<Pnl>(
          `/api/models/${id}/pnl`,
          { points, from: window?.from, to: window?.to, currency },
          signal,
        ),
        NO_PNL,
      ),
  });

export const orders = (id: string, filter: OrderFilter) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "orders", filter],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      look<Page<Order>>(
        `/api/models/${id}/orders`,
        { limit: 200, cursor: pageParam, symbol: filter.symbol, side: filter.side },
        signal,
      ),
    getNextPageParam: (page) => page.next,
  });

/** Orders to draw on a chart: the newest thousand of what it shows. */
export const drawnOrders = (id: string, window: Window | null) =>
  queryOptions({
    queryKey: ["model", id, "orders", "drawn", window],
    queryFn: ({ signal }) =>
      look<Page<Order>>(
        `/api/models/${id}/orders`,
        { limit: 1000, since: window?.from, until: window?.to },
        signal,
      ),
  });

export const happenings = (id: string, type: string, q: string) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "events", type, q],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      look<Page<Happening>>(
        `/api/models/${id}/events`,
        { limit: 100, cursor: pageParam, type, q },
        signal,
      ),
    getNextPageParam: (page) => page.next,
  });

export const screener = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "screener", "latest"],
    queryFn: ({ signal }) => look<Screened>(`/api/models/${id}/screener`, {}, signal),
  });

export const screenerHistory = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "screener", "history"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      look<Page<Screened & { seq: number }>>(
        `/api/models/${id}/screener/history`,
        { limit: 50, cursor: pageParam },
        signal,
      ),
    getNextPageParam: (page) => page.next,
  });

export const metrics = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "metrics"],
    queryFn: ({ signal }) =>
      lookIfThere(look<Metrics>(`/api/models/${id}/metrics`, {}, signal), {
        computed: {},
        custom: {},
      }),
  });

export const versions = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "versions"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      given(
        api.GET("/api/models/{model}/versions", {
          params: {
            path: { model: id },
            query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) },
          },
        }),
      ),
    getNextPageParam: (page) => page.next ?? null,
  });

export const runs = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["model", id, "runs"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      given(
        api.GET("/api/models/{model}/runs", {
          params: {
            path: { model: id },
            query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) },
          },
        }),
      ),
    getNextPageParam: (page) => page.next ?? null,
  });

export const secrets = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "secrets"],
    queryFn: async () =>
      (await given(api.GET("/api/models/{model}/secrets", { params: { path: { model: id } } })))
        .items,
  });

export const backtest = (id: string, backtestId: string) =>
  queryOptions({
    queryKey: ["model", id, "backtests", backtestId],
    queryFn: ({ signal }) =>
      look<Backtest>(`/api/models/${id}/backtests/${backtestId}`, {}, signal),
  });

/** The links to a model's record and to its backtests, newest first. */
export const shares = (id: string) =>
  queryOptions({
    queryKey: ["model", id, "shares"],
    queryFn: async () =>
      (await given(api.GET("/api/models/{model}/shares", { params: { path: { model: id } } })))
        .items,
  });

export type Me = Schemas["Me"];
export type Project = Schemas["OwnProject"];
export type Model = Omit<Schemas["ShownModel"], "lifecycle"> & { lifecycle: Lifecycle };
export type Run = Schemas["CurrentRun"];
export type DeployedRun = Schemas["DeployedRun"];
export type Version = Schemas["ShownVersion"];

/** For a server without the list at a glance: the models alone. */
async function plainModels(project: string): Promise<Glance[]> {
  const [listed, states] = await Promise.all([
    given(api.POST("/model/list", { body: { projectId: project } })),
    given(api.GET("/model/status")),
  ]);
  const byId = new Map(states.models.map((one) => [one.id, one.lifecycle as unknown as Lifecycle]));
  return listed.map((one) => ({
    id: one.id,
    project_id: one.projectId,
    name: one.name,
    type: one.type,
    general_description: one.description,
    created_at: one.createdAt,
    lifecycle: byId.get(one.id) ?? { message: null, start_at: null, end_at: null, running: null },
    version: null,
    last_order: null,
    pnl: NO_RESULT,
    last_backtest: null,
  }));
}

/** One run, whichever is current. */
export const oneRun = (id: string, run: string) => () =>
  given(api.GET("/api/models/{model}/runs/{run}", { params: { path: { model: id, run } } }));
