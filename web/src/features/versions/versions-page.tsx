/** The versions and runs of a model, and how to switch back to an older version. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Schemas } from "~/api/client";
import * as ask from "~/api/queries";
import { useModelActions } from "~/features/model/actions";
import { RunTable } from "~/features/model/run-table";
import { dated } from "~/format/csv";
import { bytes } from "~/format/numbers";
import { useView } from "~/ui/address";
import { Button, ButtonLink } from "~/ui/button";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { Choice } from "~/ui/select";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";

const VERSIONS: readonly FileColumn<ask.Version>[] = [
  ["version", (one) => one.version],
  ["id", (one) => one.version_id],
  ["description", (one) => one.description],
  ["created_at", (one) => dated(one.created_at)],
  ["python_version", (one) => one.python_version],
  ["plan", (one) => one.plan],
  ["bytes", (one) => one.size],
];
const RUNS: readonly FileColumn<Schemas["ShownRun"]>[] = [
  ["id", (run) => run.run_id],
  ["state", (run) => run.state],
  ["version", (run) => run.version],
  ["kind", (run) => run.kind],
  ["host", (run) => run.host],
  ["started_at", (run) => dated(run.started_at ?? run.created_at)],
  ["ended_at", (run) => dated(run.ended_at)],
  ["restarts", (run) => run.restarts],
  ["reason", (run) => run.reason],
];

const KINDS: readonly (readonly [string, string])[] = [
  ["", "All runs"],
  ["live", "Live"],
  ["backtest", "Backtests"],
  ["screener", "Screener"],
];

export function VersionsPage() {
  const { model: id = "", project = "" } = useParams({ strict: false });
  const { data: model } = useQuery(ask.model(id));
  const versions = useInfiniteQuery(ask.versions(id));
  const [{ kind = "" }, change] = useView<"kind">();
  const runs = useInfiniteQuery(ask.runs(id, KINDS.some(([one]) => one === kind) ? kind : ""));
  const { dialog, ask: wish } = useModelActions();
  const mayChange = useMay(project, "change_models");
  const items = versions.data?.pages.flatMap((page) => page.items) ?? [];
  const ran = runs.data?.pages.flatMap((page) => page.items) ?? [];
  if (!model) return null;
  const live = model.run && !model.run.ended_at ? model.run.version_id : null;
  return (
    <div className="grid gap-4">
      <Panel
        title="Versions"
        flush
        aside={
          <span className="flex flex-wrap items-center gap-3">
            <TableFile name="Versions" columns={VERSIONS} rows={items} />
            {mayChange && (
              <ButtonLink
                to="/$project/deploy"
                params={{ project }}
                search={{ model: id }}
                weight="main"
                icon="upload"
              >
                Deploy a new version
              </ButtonLink>
            )}
          </span>
        }
      >
        {versions.error ? (
          <Failed error={versions.error} retry={() => void versions.refetch()} />
        ) : versions.isPending ? (
          <Skeleton />
        ) : items.length === 0 ? (
          <Empty title="No versions yet">Models that run elsewhere have no versions.</Empty>
        ) : (
          <ol>
            {items.map((one, at) => (
              <li
                key={one.version_id}
                className="flex flex-wrap items-center gap-x-4 gap-y-1 border-line px-4 py-2.5 not-first:border-t"
              >
                <span className="num w-12 font-semibold">v{one.version}</span>
                <div className="min-w-48 flex-1">
                  <p dir="auto" className="[overflow-wrap:anywhere]">
                    {one.description || <span className="text-soft">No description</span>}
                  </p>
                  <p className="text-sm text-soft">
                    <Time at={one.created_at} as="stamp" /> · Python {one.python_version} ·{" "}
                    {one.plan} · {bytes(one.size)}
                  </p>
                </div>
                {mayChange && (
                  <div className="flex flex-wrap gap-x-4 gap-y-1">
                    <Link
                      className="link text-sm"
                      to="/$project/$model/versions/$version"
                      params={{ project, model: id, version: one.version_id }}
                    >
                      Source
                      <span className="sr-only"> of version {one.version}</span>
                    </Link>
                    <Since project={project} one={one} before={items[at + 1]} model={id} />
                    <a
                      className="link text-sm"
                      href={`/api/models/${id}/versions/${one.version_id}/archive`}
                      download
                    >
                      Download
                      <span className="sr-only"> version {one.version} as it was uploaded</span>
                    </a>
                  </div>
                )}
                {live === one.version_id ? (
                  <>
                    <span className="rounded-full bg-good-ground px-2.5 py-0.5 text-sm font-medium text-good">
                      deployed
                    </span>
                    {mayChange && (
                      <Button icon="stop" onClick={() => wish({ act: "stop", model })}>
                        Stop
                      </Button>
                    )}
                  </>
                ) : (
                  mayChange && (
                    <Button
                      icon={live ? "restart" : "play"}
                      onClick={() => wish({ act: "start", model, versionId: one.version_id })}
                    >
                      {live ? "Switch to it" : "Run"}
                    </Button>
                  )
                )}
              </li>
            ))}
          </ol>
        )}
        {versions.hasNextPage && <Older next={versions} />}
      </Panel>
      <Panel
        title="Runs"
        flush
        aside={
          <span className="flex flex-wrap items-center gap-3">
            <TableFile name="Runs" columns={RUNS} rows={ran} />
            <Choice
              label="Kind of runs"
              value={kind}
              options={KINDS}
              choose={(next) => change({ kind: next })}
            />
          </span>
        }
      >
        {runs.error ? (
          <Failed error={runs.error} retry={() => void runs.refetch()} />
        ) : runs.isPending ? (
          <Skeleton />
        ) : ran.length === 0 ? (
          <Empty title={kind ? "No such runs" : "No runs yet"} />
        ) : (
          <RunTable runs={ran} />
        )}
        {runs.hasNextPage && <Older next={runs} />}
      </Panel>
      {dialog}
    </div>
  );
}

/** What a version changed; the first one changed nothing. */
function Since({
  project,
  model,
  one,
  before,
}: {
  project: string;
  model: string;
  one: ask.Version;
  before: ask.Version | undefined;
}) {
  if (!before) return null;
  return (
    <Link
      className="link text-sm"
      to="/$project/$model/versions/compare"
      params={{ project, model }}
      search={{ before: before.version_id, now: one.version_id }}
    >
      Changes
      <span className="sr-only">
        {" "}
        of version {one.version} since version {before.version}
      </span>
    </Link>
  );
}

function Older({ next }: { next: { isFetchingNextPage: boolean; fetchNextPage: () => unknown } }) {
  return (
    <div className="p-3">
      <Button disabled={next.isFetchingNextPage} onClick={() => void next.fetchNextPage()}>
        Show older
      </Button>
    </div>
  );
}
