/** Every address of the app in one list. Pages are loaded when they are first opened. */
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import * as ask from "./api/queries";
import { session } from "./api/session";
import * as prepare from "./prepare";
import { AppShell } from "./shell/app-shell";
import { lastProject } from "./shell/last-project";
import { NotThere, Trouble } from "./shell/trouble";
import { Skeleton } from "./ui/panel";

interface Context {
  queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({
  component: AppShell,
  notFoundComponent: NotThere,
});

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
  component: lazyRouteComponent(() => import("./account/account-page"), "AccountPage"),
});

const newProject = createRoute({
  getParentRoute: () => root,
  path: "/new-project",
  component: lazyRouteComponent(() => import("./project/new-project-page"), "NewProjectPage"),
});

const project = createRoute({ getParentRoute: () => root, path: "/$project" });

const home = createRoute({
  getParentRoute: () => project,
  path: "/",
  component: lazyRouteComponent(() => import("./home/home-page"), "HomePage"),
});

const deploy = createRoute({
  getParentRoute: () => project,
  path: "/deploy",
  component: lazyRouteComponent(() => import("./deploy/deploy-page"), "DeployPage"),
  validateSearch: (search): { model?: string } =>
    typeof search.model === "string" ? { model: search.model } : {},
});

const members = createRoute({
  getParentRoute: () => project,
  path: "/members",
  component: lazyRouteComponent(() => import("./project/members-page"), "MembersPage"),
});

const keys = createRoute({
  getParentRoute: () => project,
  path: "/keys",
  component: lazyRouteComponent(() => import("./project/keys-page"), "KeysPage"),
});

const audit = createRoute({
  getParentRoute: () => project,
  path: "/audit",
  component: lazyRouteComponent(() => import("./project/audit-page"), "AuditPage"),
});

const projectSettings = createRoute({
  getParentRoute: () => project,
  path: "/settings",
  component: lazyRouteComponent(() => import("./project/project-page"), "ProjectPage"),
});

const model = createRoute({
  getParentRoute: () => project,
  path: "/$model",
  component: lazyRouteComponent(() => import("./model/model-page"), "ModelPage"),
});

const overview = createRoute({
  getParentRoute: () => model,
  path: "/overview",
  loader: ({ context: { queries }, params }) => prepare.overview(queries, params.model),
  component: lazyRouteComponent(() => import("./model/overview-page"), "OverviewPage"),
});

const orders = createRoute({
  getParentRoute: () => model,
  path: "/orders",
  component: lazyRouteComponent(() => import("./orders/orders-page"), "OrdersPage"),
});

const logs = createRoute({
  getParentRoute: () => model,
  path: "/logs",
  component: lazyRouteComponent(() => import("./logs/logs-page"), "LogsPage"),
});

const events = createRoute({
  getParentRoute: () => model,
  path: "/events",
  component: lazyRouteComponent(() => import("./model/events-page"), "EventsPage"),
});

const screener = createRoute({
  getParentRoute: () => model,
  path: "/screener",
  component: lazyRouteComponent(() => import("./model/screener-page"), "ScreenerPage"),
});

const versions = createRoute({
  getParentRoute: () => model,
  path: "/versions",
  component: lazyRouteComponent(() => import("./model/versions-page"), "VersionsPage"),
});

const modelSettings = createRoute({
  getParentRoute: () => model,
  path: "/settings",
  component: lazyRouteComponent(() => import("./model/settings-page"), "SettingsPage"),
});

const backtest = createRoute({
  getParentRoute: () => model,
  path: "/$backtest/backtest",
  loader: ({ context: { queries }, params }) =>
    prepare.backtest(queries, params.model, params.backtest),
  component: lazyRouteComponent(() => import("./features/backtests/backtest-page"), "BacktestPage"),
});

const backtests = createRoute({
  getParentRoute: () => model,
  path: "/backtests",
  component: lazyRouteComponent(
    () => import("./features/backtests/backtests-page"),
    "BacktestsPage",
  ),
});

const compare = createRoute({
  getParentRoute: () => model,
  path: "/backtests/compare",
  component: lazyRouteComponent(() => import("./features/backtests/compare-page"), "ComparePage"),
  validateSearch: (search): { ids?: string } =>
    typeof search.ids === "string" ? { ids: search.ids } : {},
});

const tree = root.addChildren([
  index,
  account,
  newProject,
  project.addChildren([
    home,
    deploy,
    members,
    keys,
    audit,
    projectSettings,
    model.addChildren([
      overview,
      orders,
      logs,
      events,
      screener,
      versions,
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
    defaultPendingComponent: () => <Skeleton rows={6} />,
    defaultPendingMs: 300,
    defaultNotFoundComponent: NotThere,
    defaultErrorComponent: ({ error, reset }) => <Trouble error={error} reset={reset} />,
  });
  router.subscribe("onBeforeNavigate", ({ toLocation }) => session.move(toLocation.href));
  return router;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
