/** The addresses of rules, incidents and channels. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { texts } from "~/ui/address";
import { PAGE_RIGHTS } from "~/ui/rights/page-rights";
import { onlyWith } from "./guards";
import { project } from "./root";

const rules = createRoute({
  getParentRoute: () => project,
  path: "/watching",
  component: lazyRouteComponent(() => import("~/features/watching/rules/rules-page"), "RulesPage"),
});

const newRule = createRoute({
  getParentRoute: () => project,
  path: "/watching/new",
  component: onlyWith(
    PAGE_RIGHTS.rule,
    lazyRouteComponent(() => import("~/features/watching/form/rule-page"), "NewRulePage"),
  ),
  validateSearch: texts("model"),
});

const changedRule = createRoute({
  getParentRoute: () => project,
  path: "/watching/$rule",
  component: onlyWith(
    PAGE_RIGHTS.rule,
    lazyRouteComponent(() => import("~/features/watching/form/rule-page"), "ChangeRulePage"),
  ),
});

const incidents = createRoute({
  getParentRoute: () => project,
  path: "/incidents",
  component: lazyRouteComponent(
    () => import("~/features/watching/incidents/incidents-page"),
    "IncidentsPage",
  ),
  validateSearch: texts("state"),
});

const incident = createRoute({
  getParentRoute: () => project,
  path: "/incidents/$incident",
  component: lazyRouteComponent(
    () => import("~/features/watching/incidents/incident-page"),
    "IncidentPage",
  ),
});

const channels = createRoute({
  getParentRoute: () => project,
  path: "/channels",
  component: lazyRouteComponent(
    () => import("~/features/watching/channels/channels-page"),
    "ChannelsPage",
  ),
});

export const watchingRoutes = [rules, newRule, changedRule, incidents, incident, channels] as const;
