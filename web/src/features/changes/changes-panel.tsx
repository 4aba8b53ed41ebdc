/** What the model reported or changed after the fact, and profit and loss without it. */
import { useInfiniteQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";
import type { Change, Figures, ProfitFigure } from "~/api/types";
import { dated } from "~/format/csv";
import { plural } from "~/format/numbers";
import { lasting } from "~/format/times";
import { Button } from "~/ui/button";
import { Gain } from "~/ui/figures";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { FITS } from "~/ui/tables/stacked-table";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";
import { afterOf, changeOf, subjectOf } from "./words";

const FILE: readonly FileColumn<Change>[] = [
  ["received_at", (one) => dated(one.received_at)],
  ["time", (one) => dated(one.time)],
  ["about", (one) => one.about],
  ["id", (one) => one.id],
  ["symbol", (one) => one.symbol],
  ["sort", (one) => one.sort],
  ["change", changeOf],
  ["seconds_late", (one) => one.late_by],
];
/** On a phone, what changed stands below what it is about; otherwise it has most of the width. */
const ROW =
  "grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1 px-4 py-2.5 @[36rem]:grid-cols-[minmax(0,9rem)_minmax(0,10rem)_minmax(0,1fr)]";

export function ChangesPanel({ model }: { model: string }) {
  const found = useInfiniteQuery(ask.changes(model));
  const first = found.data?.pages[0];
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Panel
      title="Changes after the fact"
      {...(first && { note: noteOf(first.late_seconds) })}
      aside={<TableFile name="Changes" columns={FILE} rows={items} />}
      flush
    >
      {found.error && <Failed error={found.error} retry={() => void found.refetch()} />}
      {!first && !found.error && <Skeleton rows={2} />}
      {first && items.length === 0 && (
        <Empty title="Nothing was changed">
          Every order, price, position and cash entry arrived in time, and none was changed after
          the fact.
        </Empty>
      )}
      {first && items.length > 0 && (
        <>
          <Profits figures={first.figures} />
          <List items={items} />
          {found.hasNextPage && (
            <div className="border-t border-line px-4 py-2.5">
              <Button
                disabled={found.isFetchingNextPage}
                onClick={() => void found.fetchNextPage()}
              >
                Show more
              </Button>
            </div>
          )}
          {!found.hasNextPage && first.unlisted > 0 && (
            <p className="border-t border-line px-4 py-2.5 text-soft">
              {plural(first.unlisted, "older change is", "older changes are")} counted and not
              listed.
            </p>
          )}
        </>
      )}
    </Panel>
  );
}

function noteOf(seconds: number): string {
  return `later than ${lasting(seconds)}`;
}

function Profits({ figures }: { figures: Figures }) {
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2 border-b border-line px-4 py-3">
      <Profit name="As first reported" figure={figures.first} />
      <Profit name="As it stands" figure={figures.now} />
    </dl>
  );
}

function Profit({ name, figure }: { name: string; figure: ProfitFigure }) {
  const amounts = Object.entries(figure.by_currency);
  return (
    <div>
      <dt className="text-xs text-soft">{name}</dt>
      {amounts.length === 0 && <dd className="text-lg text-soft">nothing</dd>}
      {amounts.map(([currency, value]) => (
        <dd key={currency}>
          <Gain value={value} currency={currency} className="text-lg" />
        </dd>
      ))}
    </div>
  );
}

function List({ items }: { items: readonly Change[] }) {
  return (
    <div role="table" aria-label={plural(items.length, "change", "changes")} className="@container">
      <div role="rowgroup" className="hidden border-b border-line @[36rem]:block">
        <div role="row" className={`${ROW} text-xs font-medium text-soft`}>
          {["Arrived", "What", "Change"].map((name) => (
            <span role="columnheader" key={name}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="divide-y divide-line">
        {items.map((one) => (
          <Row key={one.seq} change={one} />
        ))}
      </div>
    </div>
  );
}

function Row({ change }: { change: Change }) {
  return (
    <div role="row" className={ROW}>
      <span role="cell" className="order-2 text-right @[36rem]:order-none @[36rem]:text-left">
        <Time at={change.received_at} />
        <span className="block text-xs text-soft">{afterOf(change)}</span>
      </span>
      <span role="cell" dir="auto" className={`order-1 @[36rem]:order-none ${FITS}`}>
        {subjectOf(change)}
      </span>
      <span role="cell" className={`order-3 col-span-full @[36rem]:col-span-1 ${FITS}`}>
        {changeOf(change)}
      </span>
    </div>
  );
}
