/** The trades of a live model as round trips: in figures, by symbol, time and result, one by one. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Schemas } from "~/api/client";
import { MetricValue } from "~/features/backtests/metric-value";
import { useView } from "~/ui/address";
import { Button } from "~/ui/button";
import { Empty, Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { countedWords } from "./counted-words";
import { DayCalendar } from "./day-calendar";
import { Distribution } from "./distribution";
import { grouped } from "./queries";
import { SymbolTable } from "./symbol-table";
import { TripList } from "./trip-list";
import { WeekGrid } from "./week-grid";

type Performance = Schemas["Performance"];

const FIGURES = [
  "round_trips",
  "win_rate_trades",
  "profit_factor",
  "expectancy",
  "best_trade",
  "worst_trade",
  "average_holding_days",
  "fees",
];

export function TradesPage() {
  const { model = "" } = useParams({ strict: false });
  const [{ symbol = "", side: asked = "" }, change] = useView<"symbol" | "side">();
  const side = asked === "long" || asked === "short" ? asked : "";
  const { data, error, refetch } = useQuery(grouped(model, symbol));
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={8} />;
  const { currency, round_trips: groups } = data;
  const uncomputed = (symbol && data.not_computed[0]?.reason) || null;
  const counted = countedWords(groups.by_currency, currency);
  const list = (
    <TripList
      model={model}
      symbol={symbol}
      side={side}
      choose={(name) => change({ side: name })}
      currency={currency}
      look={(name) => change({ symbol: name })}
    />
  );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {symbol && <OneSymbol symbol={symbol} leave={() => change({ symbol: "" })} />}
      {counted && <Notice tone="info">{counted}</Notice>}
      {groups.count === 0 && counted ? (
        list
      ) : groups.count === 0 ? (
        <NoTrips reason={groups.reason ?? uncomputed} open={groups.open.length} />
      ) : (
        <>
          <Figures found={data} />
          <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-2">
            <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
              <SymbolTable
                groups={groups.symbols}
                currency={currency}
                choose={(name) => change({ symbol: name })}
              />
              <Distribution bins={groups.results} currency={currency} />
            </div>
            <DayCalendar days={groups.days} currency={currency} />
          </div>
          <WeekGrid slots={groups.slots} currency={currency} />
          {list}
        </>
      )}
    </div>
  );
}

function OneSymbol({ symbol, leave }: { symbol: string; leave: () => void }) {
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-3">
      <p className="min-w-0 [overflow-wrap:anywhere]">
        Only <span className="font-medium">{symbol}</span>
      </p>
      <Button onClick={leave}>Show all symbols</Button>
    </div>
  );
}

function NoTrips({ reason, open }: { reason: string | null; open: number }) {
  return (
    <Panel title="Round trips">
      {reason ? (
        <Notice tone="info">{reason}</Notice>
      ) : (
        <Empty title="No round trip yet">
          {open > 0
            ? "Positions are open. A round trip appears here when one is closed, or a part of it."
            : "A round trip appears here when a position is opened and closed again."}
        </Empty>
      )}
    </Panel>
  );
}

function Figures({ found }: { found: Performance }) {
  const shown = FIGURES.flatMap((name) => {
    const one = found.metrics[name];
    return one ? [{ name, ...one }] : [];
  });
  return (
    <dl className="flex flex-wrap gap-px overflow-hidden rounded-lg border border-line bg-line empty:hidden">
      {shown.map((one) => (
        <div
          key={one.name}
          className="max-w-full flex-[1_1_40%] bg-surface px-4 py-3 sm:flex-[1_1_20%] 2xl:flex-[1_1_11%]"
          title={one.explanation}
        >
          <dt className="text-xs text-soft">{one.display_name}</dt>
          <dd className="mt-0.5 text-xl font-semibold tracking-tight break-words">
            <MetricValue name={one.name} measure={one} currency={found.currency} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
