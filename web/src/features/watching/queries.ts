/** Rules, incidents and channels of a project. The stream of the project says when to look again. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap, withoutEmpty } from "~/api/client";

export type Rule = Schemas["ShownRule"];
export type RuleState = Schemas["ShownState"];
export type Condition = Schemas["ShownCondition"];
export type Incident = Schemas["ShownIncident"];
export type WholeIncident = Schemas["WholeIncident"];
export type NewRule = Schemas["NewRule"];

/** Milliseconds. Mutes end, and a stream may be lost: then this finds out. */
const LOOKED_EVERY = 30_000;
/** As many as a bell counts. */
const COUNTED = 100;
const OLDER = 50;
const CURVE_POINTS = 1_000;

/** Everything of a project that its stream makes stale. */
export const watchingKey = (project: string) => ["project", project, "watching"] as const;

export const conditions = queryOptions({
  queryKey: ["conditions"],
  queryFn: () => unwrap(api.GET("/api/rules/conditions")),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Of the project and its models; with a model, those that look at it. */
export const rules = (project: string, model: string | null = null) =>
  queryOptions({
    queryKey: [...watchingKey(project), "rules", model],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/projects/{project}/rules", {
            params: { path: { project }, query: withoutEmpty({ model }) },
            signal,
          }),
        )
      ).items,
    refetchInterval: LOOKED_EVERY,
  });

export const rule = (project: string, id: string) =>
  queryOptions({
    queryKey: [...watchingKey(project), "rule", id],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/rules/{rule}", { params: { path: { rule: id } }, signal })),
  });

/** The account of a model, for the lines of its limits. Null where it has none of them. */
export const accountCurves = (model: string) =>
  queryOptions({
    queryKey: ["model", model, "pnl", "limits"],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/performance", {
          params: { path: { model }, query: { points: CURVE_POINTS } },
          signal,
        }),
      ),
  });

/** For the bell. */
export const openIncidents = (project: string) =>
  queryOptions({
    queryKey: [...watchingKey(project), "open"],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/incidents", {
            params: { query: { project, state: "open", limit: COUNTED } },
            signal,
          }),
        )
      ).items,
    refetchInterval: LOOKED_EVERY,
  });

export const incidents = (project: string, state: "open" | "resolved" | null) =>
  infiniteQueryOptions({
    queryKey: [...watchingKey(project), "incidents", state],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/incidents", {
          params: {
            query: { project, limit: OLDER, ...withoutEmpty({ state, before: pageParam }) },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? null,
  });

export const incident = (project: string, id: string) =>
  queryOptions({
    queryKey: [...watchingKey(project), "incident", id],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/incidents/{incident}", { params: { path: { incident: id } }, signal })),
  });

export type Channel = Schemas["ShownChannel"];

export const channels = (project: string) =>
  queryOptions({
    queryKey: [...watchingKey(project), "channels"],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/projects/{project}/channels", { params: { path: { project } }, signal }),
        )
      ).items,
  });
