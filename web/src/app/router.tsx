/** Every address of the app in one list. Pages are loaded when they are first opened. */
import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import * as ask from "~/api/queries";
import { session } from "~/api/session";
import { onlyForOperators, onlyWith } from "~/app/routes/guards";
import { project, root } from "~/app/routes/root";
import { watchingRoutes } from "~/app/routes/watching";
import { lastProject } from "~/app/shell/last-project";
import { type PortfolioSearch, portfolioSearch } from "~/features/portfolio/portfolio-search";
import { type PriceSearch, priceSearch } from "~/features/prices/price-search";
import { readSearch, texts, writeSearch } from "~/ui/address";
import { NotFound, PageError } from "~/ui/page-error";
import { Skeleton } from "~/ui/panel";
import { PAGE_RIGHTS } from "~/ui/rights/page-rights";
import * as prepare from "./prefetch";

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async ({ context }) => {
    const me = await context.queries.ensureQueryData(ask.me);
    throw redirect({ to: "/$project", params: { project: lastProject(me) }, replace: true });
  },
});

const account = createRoute({
  getParentRoute: () => root,
  path: "/account",
  component: lazyRouteComponent(() => import("~/features/account/account-page"), "AccountPage"),
});

const health = createRoute({
  getParentRoute: () => root,
  path: "/health",
  component: onlyForOperators(
    lazyRouteComponent(() => import("~/features/health/health-page"), "HealthPage"),
  ),
});

const serverHalt = createRoute({
  getParentRoute: () => root,
  path: "/halt",
  component: onlyForOperators(
    lazyRouteComponent(() => import("~/features/halting/halt-page"), "ServerHaltPage"),
  ),
});

const newProject = createRoute({
  getParentRoute: () => root,
  path: "/new-project",
  component: lazyRouteComponent(
    () => import("~/features/project/new-project-page"),
    "NewProjectPage",
  ),
});

const ownPortfolio = createRoute({
  getParentRoute: () => root,
  path: "/portfolio",
  loader: ({ context: { queries } }) => prepare.portfolio(queries, null),
  validateSearch: (search): PortfolioSearch => portfolioSearch(search),
  component: lazyRouteComponent(
    () => import("~/features/portfolio/portfolio-page"),
    "OwnPortfolioPage",
  ),
});

const home = createRoute({
  getParentRoute: () => project,
  path: "/",
  component: lazyRouteComponent(() => import("~/features/models/models-page"), "ModelsPage"),
  validateSearch: texts("connect", "show", "q", "sort", "view"),
});

const portfolio = createRoute({
  getParentRoute: () => project,
  path: "/portfolio",
  loader: ({ context: { queries }, params }) => prepare.portfolio(queries, params.project),
  validateSearch: (search): PortfolioSearch => portfolioSearch(search),
  component: lazyRouteComponent(
    () => import("~/features/portfolio/portfolio-page"),
    "ProjectPortfolioPage",
  ),
});

const deploy = createRoute({
  getParentRoute: () => project,
  path: "/deploy",
  component: onlyWith(
    PAGE_RIGHTS.deploy,
    lazyRouteComponent(() => import("~/features/deploy/deploy-page"), "DeployPage"),
  ),
  validateSearch: (search): { model?: string } =>
    typeof search.model === "string" ? { model: search.model } : {},
});

const members = createRoute({
  getParentRoute: () => project,
  path: "/members",
  component: lazyRouteComponent(() => import("~/features/project/members-page"), "MembersPage"),
});

const keys = createRoute({
  getParentRoute: () => project,
  path: "/keys",
  component: onlyWith(
    PAGE_RIGHTS.keys,
    lazyRouteComponent(() => import("~/features/project/keys-page"), "KeysPage"),
  ),
});

const audit = createRoute({
  getParentRoute: () => project,
  path: "/audit",
  component: onlyWith(
    PAGE_RIGHTS.audit,
    lazyRouteComponent(() => import("~/features/project/audit-page"), "AuditPage"),
  ),
});

const haltPage = createRoute({
  getParentRoute: () => project,
  path: "/halt",
  component: lazyRouteComponent(() => import("~/features/halting/halt-page"), "ProjectHaltPage"),
});

const projectSettings = createRoute({
  getParentRoute: () => project,
  path: "/settings",
  component: lazyRouteComponent(() => import("~/features/project/project-page"), "ProjectPage"),
});

const model = createRoute({
  getParentRoute: () => project,
  path: "/$model",
  component: lazyRouteComponent(() => import("~/features/model/model-page"), "ModelPage"),
});

const overview = createRoute({
  getParentRoute: () => model,
  path: "/overview",
  loader: ({ context: { queries }, params }) => prepare.overview(queries, params.model),
  validateSearch: texts(
    "currency",
    "range",
    "benchmark",
    "against",
    "of",
    "beside",
    "align",
    "laid",
    "figures",
  ),
  component: lazyRouteComponent(() => import("~/features/overview/overview-page"), "OverviewPage"),
});

const orders = createRoute({
  getParentRoute: () => model,
  path: "/orders",
  component: lazyRouteComponent(() => import("~/features/orders/orders-page"), "OrdersPage"),
  validateSearch: texts("symbol", "side"),
});

const trades = createRoute({
  getParentRoute: () => model,
  path: "/trades",
  component: lazyRouteComponent(() => import("~/features/trades/trades-page"), "TradesPage"),
  validateSearch: texts("symbol", "side", "month"),
});

const prices = createRoute({
  getParentRoute: () => model,
  path: "/prices",
  component: lazyRouteComponent(() => import("~/features/prices/prices-page"), "PricesPage"),
  validateSearch: (search): PriceSearch => priceSearch(search),
});

const logs = createRoute({
  getParentRoute: () => model,
  path: "/logs",
  component: lazyRouteComponent(() => import("~/features/logs/logs-page"), "LogsPage"),
  validateSearch: texts("q", "type", "line"),
});

const events = createRoute({
  getParentRoute: () => model,
  path: "/events",
  component: lazyRouteComponent(() => import("~/features/events/events-page"), "EventsPage"),
  validateSearch: texts("type", "q"),
});

const screener = createRoute({
  getParentRoute: () => model,
  path: "/screener",
  component: lazyRouteComponent(() => import("~/features/events/screener-page"), "ScreenerPage"),
});

const versions = createRoute({
  getParentRoute: () => model,
  path: "/versions",
  component: lazyRouteComponent(() => import("~/features/versions/versions-page"), "VersionsPage"),
  validateSearch: texts("kind"),
});

const source = createRoute({
  getParentRoute: () => model,
  path: "/versions/$version",
  component: onlyWith(
    PAGE_RIGHTS.source,
    lazyRouteComponent(() => import("~/features/versions/source-page"), "SourcePage"),
  ),
  validateSearch: texts("file", "line"),
});

const versionChanges = createRoute({
  getParentRoute: () => model,
  path: "/versions/compare",
  component: onlyWith(
    PAGE_RIGHTS.source,
    lazyRouteComponent(() => import("~/features/versions/compare-page"), "ComparePage"),
  ),
  validateSearch: texts("before", "now", "file", "view"),
});

const modelSettings = createRoute({
  getParentRoute: () => model,
  path: "/settings",
  component: lazyRouteComponent(() => import("~/features/model/settings-page"), "SettingsPage"),
});

const backtest = createRoute({
  getParentRoute: () => model,
  path: "/$backtest/backtest",
  loader: ({ context: { queries }, params, location }) =>
    prepare.backtest(queries, params.model, params.backtest, location.search),
  validateSearch: texts(
    "range",
    "indicators",
    "explained",
    "benchmark",
    "against",
    "rolling",
    "symbol",
    "interval",
    "shape",
    "prices",
    "q",
    "type",
    "line",
  ),
  component: lazyRouteComponent(
    () => import("~/features/backtests/report/backtest-page"),
    "BacktestPage",
  ),
});

const backtests = createRoute({
  getParentRoute: () => model,
  path: "/backtests",
  component: lazyRouteComponent(
    () => import("~/features/backtests/list/backtests-page"),
    "BacktestsPage",
  ),
  validateSearch: texts("sort", "chosen"),
});

const compare = createRoute({
  getParentRoute: () => model,
  path: "/backtests/compare",
  component: lazyRouteComponent(
    () => import("~/features/backtests/compare/compare-page"),
    "ComparePage",
  ),
  validateSearch: texts("ids", "align", "range", "metrics", "arguments"),
});

const tree = root.addChildren([
  index,
  account,
  health,
  serverHalt,
  newProject,
  ownPortfolio,
  project.addChildren([
    home,
    portfolio,
    deploy,
    members,
    keys,
    audit,
    ...watchingRoutes,
    haltPage,
    projectSettings,
    model.addChildren([
      overview,
      orders,
      trades,
      prices,
      logs,
      events,
      screener,
      versions,
      source,
      versionChanges,
      modelSettings,
      backtest,
      backtests,
      compare,
    ]),
  ]),
]);

export function makeRouter(queries: QueryClient) {
  const router = createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: "intent",
    scrollRestoration: true,
    parseSearch: readSearch,
    stringifySearch: writeSearch,
    // A chart writes its range into the address. That asks for nothing again: queries know what is old.
    defaultStaleTime: Number.POSITIVE_INFINITY,
    defaultPendingComponent: () => <Skeleton rows={6} />,
    defaultPendingMs: 300,
    defaultNotFoundComponent: NotFound,
    defaultErrorComponent: ({ error, reset }) => <PageError error={error} reset={reset} />,
  });
  router.subscribe("onBeforeNavigate", ({ toLocation }) => session.move(toLocation.href));
  return router;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
