/** The generic events of a model, usually its calls and their responses. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useDeferredValue } from "react";
import * as ask from "~/api/queries";
import type { ModelEvent } from "~/api/types";
import { dated } from "~/format/csv";
import { useView } from "~/ui/address";
import { Button } from "~/ui/button";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";

const FILE: readonly FileColumn<ModelEvent>[] = [
  ["time", (one) => dated(one.time)],
  ["received_at", (one) => dated(one.received_at)],
  ["type", (one) => one.type],
  ["content", body],
];
const OURS = new Set(["type", "time", "received_at", "seq", "run_id"]);

export function EventsPage() {
  const { model = "" } = useParams({ strict: false });
  const [{ type = "", q: typed = "" }, change] = useView<"type" | "q">();
  const q = useDeferredValue(typed);
  const found = useInfiniteQuery(ask.events(model, type.trim(), q));
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Panel
      title="Events"
      flush
      aside={
        <div className="flex flex-wrap items-center gap-2">
          <input
            aria-label="Type"
            placeholder="Type"
            className="field w-32"
            value={type}
            onChange={(event) => change({ type: event.target.value }, "typed")}
          />
          <input
            aria-label="Search events"
            type="search"
            placeholder="Search"
            className="field w-48"
            value={typed}
            onChange={(event) => change({ q: event.target.value }, "typed")}
          />
          <TableFile name="Events" columns={FILE} rows={items} />
        </div>
      }
    >
      {found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
      ) : found.isPending ? (
        <Skeleton rows={6} />
      ) : items.length === 0 ? (
        <Empty title="No events">
          A model can send any event to <code className="font-mono">/v1/live/event</code> to record
          it.
        </Empty>
      ) : (
        <ul>
          {items.map((one) => (
            <li
              key={one.seq}
              className="grid gap-1 border-line px-4 py-2 not-first:border-t sm:grid-cols-[10rem_10rem_minmax(0,1fr)] sm:gap-4"
            >
              <Time at={one.time} as="stamp" />
              <span dir="auto" className="font-medium [overflow-wrap:anywhere]">
                {one.type}
              </span>
              <code className="font-mono text-xs leading-5 [overflow-wrap:anywhere]">
                {body(one)}
              </code>
            </li>
          ))}
        </ul>
      )}
      {found.hasNextPage && (
        <div className="p-3">
          <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            Show older
          </Button>
        </div>
      )}
    </Panel>
  );
}

function body(one: ModelEvent): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(one).filter(([name]) => !OURS.has(name))),
  );
}
