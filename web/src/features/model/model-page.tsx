/** The frame of a model's pages: name, status, actions and tabs. */
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import * as ask from "~/api/queries";
import { ShareButton } from "~/features/sharing/share-button";
import { ConnectionNote } from "~/live/connection-note";
import { LiveModel, useModelStream } from "~/live/use-live";
import { useTitle } from "~/ui/address";
import { Button, ButtonLink } from "~/ui/button";
import { PageError } from "~/ui/page-error";
import { Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { useModelActions, type Wish } from "./actions";
import { Linked } from "./linked-text";
import { pageOf, pagesOf, titleOf } from "./pages";
import { statusOf } from "./status";
import { StatusBadge } from "./status-badge";

export function ModelPage() {
  const { model = "" } = useParams({ strict: false });
  return (
    <LiveModel key={model} model={model}>
      <ModelFrame id={model} />
    </LiveModel>
  );
}

function ModelFrame({ id }: { id: string }) {
  const { data: model, error, refetch } = useQuery(ask.model(id));
  const { isPending } = useQuery(ask.me); // who reads it decides which buttons there are
  const { project = "" } = useParams({ strict: false });
  const path = useRouterState({ select: (state) => state.location.pathname });
  const here = pageOf(path);
  const title = titleOf(path);
  const tabs = useRef<HTMLElement>(null);
  const isThere = model !== undefined && !isPending;
  // A phone has no room for all tabs: scroll the open one into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tabs scroll when another page opens
  useEffect(() => {
    const open = tabs.current?.querySelector<HTMLElement>("[aria-current=page]");
    if (tabs.current && open) tabs.current.scrollLeft = open.offsetLeft - 24;
  }, [here, isThere]);
  useTitle(...(title === null ? [] : [title, model?.name]));
  if (error) return <PageError error={error} reset={() => void refetch()} />;
  if (!model || isPending) return <Skeleton rows={8} />;
  return (
    <>
      <Head model={model} />
      <nav
        ref={tabs}
        aria-label="Model"
        className="relative mb-4 flex gap-1 overflow-x-auto border-b border-line"
      >
        {pagesOf(model, here).map(([page, label]) => {
          const isHere = page === here;
          return (
            <Link
              key={page}
              to={`/$project/$model/${page}`}
              params={{ project, model: id }}
              aria-current={isHere ? "page" : undefined}
              className={`-mb-px border-b-2 px-2.5 py-2 whitespace-nowrap hover:text-ink focus-visible:-outline-offset-2 ${isHere ? "border-accent font-medium text-ink" : "border-transparent text-soft"}`}
            >
              {label}
            </Link>
          );
        })}
      </nav>
      <Outlet />
    </>
  );
}

function Head({ model }: { model: ask.Model }) {
  const status = statusOf(model.run, model.lifecycle);
  const stream = useModelStream();
  const { dialog, ask: wish } = useModelActions();
  const mayChange = useMay(model.project_id, "change_models");
  return (
    <header className="mb-2 flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
      <div className="min-w-0">
        <div className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1">
          <h1 dir="auto" className="text-left text-xl [overflow-wrap:anywhere]">
            {model.name}
          </h1>
          <StatusBadge status={status} />
          <ConnectionNote stream={stream} />
        </div>
        {model.general_description && (
          <p
            dir="auto"
            title={model.general_description}
            className="line-clamp-4 max-w-prose text-left text-soft sm:line-clamp-2 [overflow-wrap:anywhere]"
          >
            <Linked text={model.general_description} />
          </p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        {model.type !== "screener" && (
          <ShareButton project={model.project_id} model={model.id} name={model.name} />
        )}
        {mayChange && <Changing model={model} isUp={status.isUp} wish={wish} />}
      </div>
      {dialog}
    </header>
  );
}

function Changing({
  model,
  isUp,
  wish,
}: {
  model: ask.Model;
  isUp: boolean;
  wish: (wish: Wish) => void;
}) {
  return (
    <>
      {isUp ? (
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
    </>
  );
}
