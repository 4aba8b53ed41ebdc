/** The audit log of a project. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Schemas } from "~/api/client";
import * as ask from "~/api/queries";
import { dated } from "~/format/csv";
import { useTitle } from "~/ui/address";
import { Button } from "~/ui/button";
import { Empty, Failed, PageHead, Panel, Skeleton } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";

const FILE: readonly FileColumn<Schemas["Entry"]>[] = [
  ["time", (one) => dated(one.at)],
  ["actor", (one) => one.actor],
  ["address", (one) => one.address],
  ["action", (one) => one.action],
  ["subject", (one) => one.subject],
  ["details", (one) => JSON.stringify(one.details)],
];

export function AuditPage() {
  const { project = "" } = useParams({ strict: false });
  const found = useInfiniteQuery(ask.projectAudit(project));
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  useTitle("Audit");
  return (
    <div className="mx-auto max-w-5xl">
      <PageHead
        title="Audit"
        lead="Every change in this project, newest first."
        actions={<TableFile name="Audit" columns={FILE} rows={items} />}
      />
      <Panel flush>
        {found.error ? (
          <Failed error={found.error} retry={() => void found.refetch()} />
        ) : found.isPending ? (
          <Skeleton rows={8} />
        ) : items.length === 0 ? (
          <Empty title="No changes yet" />
        ) : (
          <ul>
            {items.map((one) => (
              <li
                key={one.seq}
                className="grid gap-x-4 border-line px-4 py-2 not-first:border-t sm:grid-cols-[10rem_minmax(0,14rem)_minmax(0,1fr)]"
              >
                <Time at={one.at} as="stamp" />
                <span className="truncate" title={`${one.actor} from ${one.address}`}>
                  {one.actor}
                </span>
                <span className="min-w-0 [overflow-wrap:anywhere]">
                  <span className="font-medium">{one.action.replaceAll(/[._]/g, " ")}</span>{" "}
                  <span className="text-soft">
                    {details(one.details as Record<string, unknown>) || one.subject}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        )}
        {found.hasNextPage && (
          <div className="border-t border-line p-3">
            <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
              Show older
            </Button>
          </div>
        )}
      </Panel>
    </div>
  );
}

function details(said: Record<string, unknown>): string {
  return Object.entries(said)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${inWords(value)}`)
    .join(", ");
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(" and ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
