/**
 * Starts a page's requests while its code is still loading, so that they do not wait for each other.
 * Nothing here is awaited.
 */
import type { QueryClient } from "@tanstack/react-query";
import * as ask from "~/api/queries";

export function overview(queries: QueryClient, model: string): void {
  void queries.prefetchQuery(ask.model(model));
  void queries.prefetchQuery(ask.pnl(model, ask.CHART_POINTS, null, null));
  void queries.prefetchQuery(ask.orderMarks(model, null));
  void queries.prefetchQuery(ask.newestOrders(model, ask.NEWEST));
  void import("~/charts/pane-chart");
}

export function backtest(
  queries: QueryClient,
  model: string,
  id: string,
  { symbol = "", interval = "" }: { symbol?: string; interval?: string },
): void {
  void queries.prefetchQuery(ask.model(model));
  void import("~/charts/pane-chart");
  void import("~/features/backtests/queries").then((of) => {
    void queries.prefetchQuery(of.facts(model, id));
    void queries.prefetchQuery(of.run(model, id));
    void queries.prefetchQuery(of.equity(model, id, null));
    void queries.prefetchQuery(of.drawdown(model, id, null));
    void queries.prefetchQuery(of.prices(model, id, { symbol, interval, view: null }));
  });
}

/** In the usual currency; the page asks for another itself. */
export function portfolio(queries: QueryClient, project: string | null): void {
  void import("~/charts/pane-chart");
  void import("~/features/portfolio/queries").then((of) => {
    void queries.prefetchQuery(of.portfolio(project, ""));
  });
}
