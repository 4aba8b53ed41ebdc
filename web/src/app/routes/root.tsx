/** The routes that others hang on: the frame of every page, and a project. */
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import { zoneFor } from "~/app/kept-zone";
import { AppShell } from "~/app/shell/app-shell";
import { isZone, setZone } from "~/format/zone";
import { NotFound } from "~/ui/page-error";

interface Context {
  queries: QueryClient;
}

export const root = createRootRouteWithContext<Context>()({
  component: AppShell,
  // The zone of all times is part of every address, unless it is the reader's own.
  validateSearch: (search): { zone?: string } => (isZone(search.zone) ? { zone: search.zone } : {}),
  search: { middlewares: [retainSearchParams(["zone"])] },
  beforeLoad: ({ search, location }) => {
    const chosen = zoneFor(search.zone, document.cookie);
    setZone(chosen);
    if (search.zone || chosen === "local") return;
    const asked = new URLSearchParams(location.searchStr);
    asked.set("zone", chosen);
    throw redirect({ href: `${location.pathname}?${asked}${location.hash}`, replace: true });
  },
  notFoundComponent: NotFound,
});

export const project = createRoute({ getParentRoute: () => root, path: "/$project" });
