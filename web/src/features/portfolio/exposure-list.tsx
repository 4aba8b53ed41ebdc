/** What is held of each symbol over all models: a bar beside its numbers. */
import { useState } from "react";
import type { Schemas } from "~/api/client";
import type { Portfolio } from "~/api/types";
import { Bar } from "~/charts/number-bar";
import { barsOf } from "~/charts/number-bars";
import { gain, money, percent, plural } from "~/format/numbers";
import { Button } from "~/ui/button";
import { Empty, Notice, Panel } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import type { Members } from "./members";

type Held = Schemas["SymbolExposure"];
const AT_FIRST = 12;

const FILE: readonly FileColumn<Held>[] = [
  ["symbol", (one) => one.symbol],
  ["currency", (one) => one.currency],
  ["net", (one) => one.net],
  ["gross", (one) => one.gross],
  ["net_converted", (one) => one.net_converted],
  ["gross_converted", (one) => one.gross_converted],
  ["models", (one) => one.models.join(" ")],
];

export function ExposureList({ found, members }: { found: Portfolio; members: Members }) {
  const [all, setAll] = useState(false);
  const { symbols, gross, net, without_rate: lacking } = found.exposure;
  const bars = barsOf(symbols.map((one) => one.net_converted));
  const account = found.account_value;
  return (
    <Panel
      title="Exposure by symbol"
      note="at the last known prices"
      flush
      aside={
        symbols.length > 0 && <TableFile name="Exposure by symbol" columns={FILE} rows={symbols} />
      }
    >
      {symbols.length === 0 ? (
        <Empty title="Nothing is held">No model has an open position.</Empty>
      ) : (
        <>
          <dl className="flex flex-wrap gap-x-8 gap-y-3 border-b border-line px-4 py-3">
            <Sum name="Gross" value={money(gross, found.currency)} account={account} of={gross} />
            <Sum name="Net" value={gain(net, found.currency)} account={account} of={net} />
          </dl>
          <ul className="divide-y divide-line">
            {(all ? symbols : symbols.slice(0, AT_FIRST)).map((one, place) => (
              <Row
                key={`${one.symbol} ${one.currency}`}
                one={one}
                bar={bars[place] ?? null}
                currency={found.currency}
                names={one.models.map((id) => members.get(id)?.name ?? id)}
              />
            ))}
          </ul>
          {symbols.length > AT_FIRST && (
            <div className="border-t border-line p-2">
              <Button weight="bare" aria-expanded={all} onClick={() => setAll(!all)}>
                {all ? "Show fewer" : `Show all ${symbols.length}`}
              </Button>
            </div>
          )}
        </>
      )}
      {lacking.length > 0 && (
        <div className="p-4">
          <Notice tone="warn">
            No sum includes {lacking.join(", ")}: there is no rate to {found.currency}.
          </Notice>
        </div>
      )}
    </Panel>
  );
}

function Sum({
  name,
  value,
  account,
  of,
}: {
  name: string;
  value: string;
  account: number | null;
  of: number;
}) {
  return (
    <div className="max-w-full">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="num text-lg font-semibold break-words">{value}</dd>
      {account !== null && account > 0 && (
        <dd className="num text-xs text-soft">{percent(of / account)} of the account</dd>
      )}
    </div>
  );
}

function Row({
  one,
  bar,
  currency,
  names,
}: {
  one: Held;
  bar: { left: number; width: number } | null;
  currency: string;
  names: string[];
}) {
  const isConverted = one.net_converted !== null;
  const [net, gross] = isConverted
    ? [one.net_converted, one.gross_converted]
    : [one.net, one.gross];
  const unit = isConverted ? currency : one.currency;
  const isHedged = Math.abs(one.net) < one.gross * (1 - 1e-9);
  return (
    <li className="px-4 py-2">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="min-w-0 truncate font-medium" title={one.symbol}>
          {one.symbol}
        </span>
        <span className="num whitespace-nowrap">{gain(net, unit)}</span>
      </div>
      <Bar place={bar} tone={one.net < 0 ? "down" : "accent"} className="my-1" />
      <div className="flex flex-wrap justify-between gap-x-4 text-xs text-soft">
        <span className="min-w-0 truncate" title={names.join(", ")}>
          {names.length === 1 ? <bdi>{names[0]}</bdi> : plural(names.length, "model")}
        </span>
        {isHedged && <span className="num">gross {money(gross, unit)}</span>}
      </div>
    </li>
  );
}
