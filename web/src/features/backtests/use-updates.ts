/** Refreshes backtests when the stream reports news about them. */
import { type QueryClient, useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Refresher } from "~/live/refresh";
import type { Arrived } from "~/live/stream";
import { useModelStream } from "~/live/use-live";
import { keyOf, list, periods } from "./queries";

interface Said {
  backtest_id?: string;
  type?: string;
}

/** The backtest that an event is about, unless it is only a log line. */
export function concerned({ kind, data }: Arrived): string | null {
  if (!kind.startsWith("backtest-")) return null;
  const { backtest_id: id = null, type } = data as Said;
  // The platform's own lines say how far a backtest has come.
  return kind === "backtest-log" && type !== "system" ? null : id;
}

/** Keeps the displayed backtests of a model fresh. */
export function useBacktestUpdates(model: string): void {
  const queries = useQueryClient();
  const stream = useModelStream();
  useEffect(() => {
    const refresher = new Refresher((ids) => {
      void queries.invalidateQueries({ queryKey: ["model", model, "backtests"] });
      void queries.invalidateQueries({ queryKey: ["model", model, "runs"] });
      for (const id of ids) void queries.invalidateQueries({ queryKey: keyOf(model, id) });
    }, 500);
    const leave = stream.listen((arrived) => {
      const id = concerned(arrived);
      if (id !== null) refresher.ask(id);
    });
    return () => {
      leave();
      refresher.stop();
    };
  }, [model, queries, stream]);
}

/** Refreshes backtests whose metrics were still being computed, as soon as they are ready. */
export function useWhenComputed(model: string, ids: readonly string[]): void {
  const queries = useQueryClient();
  const waiting = useQueries({ queries: ids.map((id) => periods(model, id)) });
  const done = waiting.map(({ isFetched }) => Number(isFetched)).join("");
  const named = ids.join();
  useEffect(() => {
    if (!named || !done.includes("1")) return;
    void queries.invalidateQueries({ queryKey: list(model).queryKey });
    for (const id of named.split(","))
      void queries.invalidateQueries({ queryKey: [...keyOf(model, id), "facts"] });
  }, [done, model, named, queries]);
}

export async function refresh(queries: QueryClient, model: string, id?: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ["model", model, "backtests"] }),
    queries.invalidateQueries({ queryKey: ["model", model, "runs"] }),
    ...(id ? [queries.invalidateQueries({ queryKey: keyOf(model, id) })] : []),
  ]);
}
