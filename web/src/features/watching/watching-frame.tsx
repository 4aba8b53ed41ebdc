/** The frame of the pages about watching: one heading, and the way from each of them to the others. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import * as ask from "~/api/queries";
import { useTitle } from "~/ui/address";
import { PageHead, Skeleton } from "~/ui/panel";

const PAGES = [
  ["/$project/watching", "Rules"],
  ["/$project/incidents", "Incidents"],
  ["/$project/channels", "Channels"],
] as const;

export function WatchingFrame({
  here,
  lead,
  actions,
  children,
}: {
  here: "Rules" | "Incidents" | "Channels";
  lead: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { project = "" } = useParams({ strict: false });
  const { isPending } = useQuery(ask.me); // who reads it decides which buttons there are
  useTitle(here === "Rules" ? "Watching" : here);
  if (isPending) return <Skeleton rows={8} />;
  return (
    <div className="mx-auto max-w-5xl">
      <PageHead title="Watching" lead={lead} actions={actions} />
      <nav aria-label="Watching" className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
        {PAGES.map(([to, label]) => (
          <Link
            key={to}
            to={to}
            params={{ project }}
            aria-current={label === here ? "page" : undefined}
            className={`-mb-px border-b-2 px-2.5 py-2 whitespace-nowrap hover:text-ink focus-visible:-outline-offset-2 ${label === here ? "border-accent font-medium text-ink" : "border-transparent text-soft"}`}
          >
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </div>
  );
}
