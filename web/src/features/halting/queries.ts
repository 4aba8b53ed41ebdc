/** The halt of a project: asked for often while models are stopping. */
import { queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "~/api/client";

export type Halt = Schemas["ShownHalt"];
export type Outcome = Schemas["Outcome"];

const STOPPING_EVERY = 1_000;
const OTHERWISE_EVERY = 15_000; // milliseconds

export const halt = (project: string) =>
  queryOptions({
    queryKey: ["project", project, "halt"],
    queryFn: async () =>
      (await unwrap(api.GET("/api/projects/{project}/halt", { params: { path: { project } } })))
        .halt,
    refetchInterval: ({ state: { data } }) =>
      data?.in_force && data.stopping > 0 ? STOPPING_EVERY : OTHERWISE_EVERY,
  });
