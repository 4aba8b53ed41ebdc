/** The latest and earlier results of a screener. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import * as ask from "~/api/queries";
import type { ScreenerRows } from "~/api/types";
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
          items.map((one, place) => (
            <details key={one.seq} className="border-line not-first:border-t">
              <summary className="cursor-pointer px-4 py-2 hover:bg-hover">
                <Time at={one.time} as="stamp" />{" "}
                <span className="text-soft">
                  {plural(Object.keys(one.result).length, "symbol")}
                </span>
                <Moves result={one.result} before={items[place + 1]?.result} />
              </summary>
              <ResultTable result={one.result} label="Screener result" />
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

/** The symbols that are new or gone since the result before. */
function Moves({ result, before }: { result: ScreenerRows; before: ScreenerRows | undefined }) {
  if (!before) return null;
  const came = Object.keys(result).filter((symbol) => !(symbol in before));
  const went = Object.keys(before).filter((symbol) => !(symbol in result));
  return (
    <span className="ml-2 text-sm">
      {came.length > 0 && (
        <ins className="mr-2 inline-block text-good no-underline">+ {named(came)}</ins>
      )}
      {went.length > 0 && <del className="inline-block text-bad no-underline">− {named(went)}</del>}
    </span>
  );
}

function named(symbols: string[]): string {
  const rest = symbols.length - 5;
  return symbols.slice(0, 5).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
