/** The halt of a project, or of everything for an operator: asked for often while models are stopping. */
import { queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "~/api/client";

export type Halt = Schemas["ShownHalt"];
export type Outcome = Schemas["Outcome"];

const STOPPING_EVERY = 1_000;
const OTHERWISE_EVERY = 15_000; // milliseconds

/** Null: everything on this server. */
export type Scope = string | null;

/** What a halt changes. */
export const haltedKey = (project: Scope) => (project === null ? [] : ["project", project]);

export const halt = (project: Scope) =>
  queryOptions({
    queryKey: project === null ? ["halt"] : ["project", project, "halt"],
    queryFn: async () =>
      (
        await (project === null
          ? unwrap(api.GET("/api/halt"))
          : unwrap(api.GET("/api/projects/{project}/halt", { params: { path: { project } } })))
      ).halt,
    refetchInterval: ({ state: { data } }) =>
      data?.in_force && data.stopping > 0 ? STOPPING_EVERY : OTHERWISE_EVERY,
  });
