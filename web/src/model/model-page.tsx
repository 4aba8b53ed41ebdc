/** The frame of one model: what it is, how it is doing, what can be done, and its pages. */
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import type { Lifecycle } from "~/api/pending";
import * as ask from "~/api/queries";
import { lasting } from "~/format/times";
import { LiveModel, useConnection, useModelStream } from "~/live/use-live";
import { ShareButton } from "~/sharing/share-button";
import { useTitle } from "~/shell/title";
import { Trouble } from "~/shell/trouble";
import { Button, ButtonLink } from "~/ui/button";
import { Skeleton } from "~/ui/panel";
import { useNow } from "~/ui/time";
import { useModelActions } from "./actions";
import { statusOf } from "./status";
import { StatusBadge } from "./status-badge";

const PAGES = [
  ["overview", "Overview"],
  ["orders", "Orders"],
  ["logs", "Log"],
  ["events", "Events"],
  ["screener", "Screener"],
  ["backtests", "Backtests"],
  ["versions", "Versions"],
  ["settings", "Settings"],
] as const;

export function ModelPage() {
  const { model = "" } = useParams({ strict: false });
  return (
    <LiveModel key={model} model={model}>
      <Framed id={model} />
    </LiveModel>
  );
}

function Framed({ id }: { id: string }) {
  const { data: model, error, refetch } = useQuery(ask.model(id));
  const { project = "" } = useParams({ strict: false });
  useTitle(model?.name);
  if (error) return <Trouble error={error} reset={() => void refetch()} />;
  if (!model) return <Skeleton rows={8} />;
  const shown = PAGES.filter(
    ([page]) => page !== "screener" || model.type === "screener" || model.counts["screener-result"],
  );
  return (
    <>
      <Head model={model as ask.Model} />
      <nav aria-label="Model" className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
        {shown.map(([page, label]) => (
          <Link
            key={page}
            to={`/$project/$model/${page}`}
            params={{ project, model: id }}
            className="-mb-px border-b-2 border-transparent px-2.5 py-2 whitespace-nowrap text-soft hover:text-ink focus-visible:-outline-offset-2"
            activeProps={{
              className: "!border-accent !text-ink font-medium",
              "aria-current": "page",
            }}
          >
            {label}
          </Link>
        ))}
      </nav>
      <Outlet />
    </>
  );
}

function Head({ model }: { model: ask.Model }) {
  const status = statusOf(model.run, model.lifecycle as Lifecycle);
  const { dialog, ask: wish } = useModelActions();
  return (
    <header className="mb-2 flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
      <div className="min-w-0">
        <div className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1">
          <h1 className="text-xl [overflow-wrap:anywhere]">{model.name}</h1>
          <StatusBadge status={status} />
          <ConnectionNote />
        </div>
        {model.general_description && (
          <p className="line-clamp-2 max-w-prose text-soft">{model.general_description}</p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        {model.type !== "screener" && (
          <ShareButton project={model.project_id} model={model.id} name={model.name} />
        )}
        {status.isUp ? (
          <Button icon="stop" onClick={() => wish({ act: "stop", model })}>
            Stop
          </Button>
        ) : (
          model.version && (
            <Button icon="play" onClick={() => wish({ act: "start", model })}>
              Start
            </Button>
          )
        )}
        <ButtonLink
          to="/$project/deploy"
          params={{ project: model.project_id }}
          search={{ model: model.id }}
          icon="upload"
        >
          Deploy
        </ButtonLink>
      </div>
      {dialog}
    </header>
  );
}

/** Whether what is shown is what is: said only when it is not. */
function ConnectionNote() {
  const { state, since } = useConnection(useModelStream());
  const now = useNow(1);
  const behind = now - since / 1000;
  if (state !== "behind" || behind < 1) return <span role="status" className="sr-only" />;
  return (
    <span role="status" className="rounded-md bg-warn-ground px-2 py-0.5 text-sm text-warn">
      Not live for {lasting(behind)}. Connecting again…
    </span>
  );
}
