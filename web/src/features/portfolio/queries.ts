/** The query of a portfolio: one request brings everything that its page shows. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrap, withoutEmpty } from "~/api/client";
import type { operations } from "~/api/schema";
import type { Comparing } from "~/features/backtests/queries";

const POINTS = 2_000;
/** A stream belongs to one project, so the page of all projects asks now and then instead. */
const ASKED_EVERY = 60_000; // milliseconds

type Query = NonNullable<operations["show_own_portfolio"]["parameters"]["query"]>;

/** Of a project; of all projects of the reader if it is null. */
export const portfolio = (project: string | null, currency: string) =>
  queryOptions({
    queryKey: ["portfolio", project, currency],
    queryFn: ({ signal }) => asked(project, withoutEmpty({ points: POINTS, currency }), signal),
    placeholderData: keepPreviousData,
    ...(project === null ? { refetchInterval: ASKED_EVERY } : {}),
  });

/** Its returns beside those of a symbol. */
export const benchmarkOf = (project: string | null, currency: string): Comparing => ({
  key: ["portfolio", project, currency, "benchmark"],
  ask: async (benchmark, signal) => {
    const query = withoutEmpty({ points: 1_000, correlated: 0, currency, benchmark });
    return (await asked(project, query, signal)).benchmark;
  },
});

function asked(project: string | null, query: Query, signal: AbortSignal) {
  return project === null
    ? unwrap(api.GET("/api/portfolio", { params: { query }, signal }))
    : unwrap(
        api.GET("/api/projects/{project}/portfolio", {
          params: { path: { project }, query },
          signal,
        }),
      );
}
