/** The queries of the trades of a live model: its round trips in groups, and one by one. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap, withoutEmpty } from "~/api/client";

export type Trip = Schemas["LiveTrip"];
export type Group = Schemas["Group"];
export type Bin = Schemas["Bin"];
export type Groups = Schemas["TripGroups"];

const PAGE = 50;
/** The most that one answer has. */
const MOST = 1_000;

/** Of one symbol, or of all if it is empty. The curves of the same answer are not needed here. */
export const grouped = (model: string, symbol: string) =>
  queryOptions({
    queryKey: ["model", model, "metrics", "trades", symbol],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/performance", {
          params: { path: { model }, query: withoutEmpty({ points: 2, symbol }) },
          signal,
        }),
      ),
  });

/** Every round trip of a table, in its order: a file has those too that are not loaded. */
export async function allTrips(
  model: string,
  symbol: string,
  side: "" | "long" | "short",
): Promise<Trip[]> {
  const found: Trip[] = [];
  for (let cursor: string | null = null; ; ) {
    const query = withoutEmpty({ limit: MOST, cursor, symbol, side: side || null });
    const page: { items: Trip[]; next: string | null } = await unwrap(
      api.GET("/api/models/{model}/round-trips", { params: { path: { model }, query } }),
    );
    found.push(...page.items);
    cursor = page.next;
    if (cursor === null) return found;
  }
}

export const trips = (model: string, symbol: string, side: "" | "long" | "short") =>
  infiniteQueryOptions({
    queryKey: ["model", model, "orders", "trades", symbol, side],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/models/{model}/round-trips", {
          params: {
            path: { model },
            query: withoutEmpty({ limit: PAGE, cursor: pageParam, symbol, side: side || null }),
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next,
  });
