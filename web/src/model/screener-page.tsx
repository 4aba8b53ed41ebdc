/** What a screener found, now and before. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import * as ask from "~/api/queries";
import { plural } from "~/format/numbers";
import { Button } from "~/ui/button";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { Time } from "~/ui/time";
import { ResultTable, ScreenerTable } from "./screener-table";

export function ScreenerPage() {
  const { model = "" } = useParams({ strict: false });
  const history = useInfiniteQuery(ask.screenerHistory(model));
  const items = history.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="grid gap-4">
      <Panel title="Latest result" flush>
        <ScreenerTable model={model} />
      </Panel>
      <Panel title="History" flush>
        {history.error ? (
          <Failed error={history.error} retry={() => void history.refetch()} />
        ) : history.isPending ? (
          <Skeleton />
        ) : items.length === 0 ? (
          <Empty title="No results yet" />
        ) : (
          items.map((one) => (
            <details key={one.seq} className="border-line not-first:border-t">
              <summary className="cursor-pointer px-4 py-2 hover:bg-hover">
                <Time at={one.time} as="stamp" />{" "}
                <span className="text-soft">
                  {plural(Object.keys(one.result ?? {}).length, "symbol")}
                </span>
              </summary>
              {one.result && <ResultTable result={one.result} label="Screener result" />}
            </details>
          ))
        )}
        {history.hasNextPage && (
          <div className="p-3">
            <Button
              disabled={history.isFetchingNextPage}
              onClick={() => void history.fetchNextPage()}
            >
              Show older
            </Button>
          </div>
        )}
      </Panel>
    </div>
  );
}
