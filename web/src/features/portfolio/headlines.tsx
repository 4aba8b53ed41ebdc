/** The figures of a portfolio: what it is worth, what it earned, and at which risk. */
import { useState } from "react";
import type { Portfolio } from "~/api/types";
import { MetricValue } from "~/features/backtests/metric-value";
import { headlines } from "~/features/backtests/metrics";
import { money } from "~/format/numbers";
import { Button } from "~/ui/button";
import { Gain } from "~/ui/figures";

const CELL = "max-w-full flex-[1_1_40%] bg-surface px-4 py-3 sm:flex-[1_1_20%] 2xl:flex-[1_1_11%]";

export function Headlines({ found }: { found: Portfolio }) {
  const [all, setAll] = useState(false);
  const first = headlines(found.metrics);
  const shown = new Set(first.map(({ name }) => name));
  const rest = Object.entries(found.metrics)
    .filter(([name]) => !shown.has(name as (typeof first)[number]["name"]))
    .map(([name, one]) => ({ name, ...one }));
  return (
    <div className="grid gap-2">
      <dl className="flex flex-wrap gap-px overflow-hidden rounded-lg border border-line bg-line">
        <Figure
          name="Account value"
          hint="Of all models that have an account, at the newest rates."
        >
          <span className="num">{money(found.account_value, found.currency)}</span>
        </Figure>
        <Figure name="Gain" hint="Account value less what was put in.">
          <Gain value={found.gain} currency={found.currency} />
        </Figure>
        {(all ? [...first, ...rest] : first).map((one) => (
          <Figure key={one.name} name={one.display_name || one.name} hint={one.explanation}>
            <MetricValue name={one.name} measure={one} currency={found.currency} />
            {one.value === null && one.reason && (
              <span className="mt-0.5 block text-xs font-normal tracking-normal text-soft">
                {one.reason}
              </span>
            )}
          </Figure>
        ))}
      </dl>
      {rest.length > 0 && (
        <Button className="justify-self-start" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show fewer metrics" : `Show all ${first.length + rest.length} metrics`}
        </Button>
      )}
    </div>
  );
}

function Figure({
  name,
  hint,
  children,
}: {
  name: string;
  hint?: string | undefined;
  children: React.ReactNode;
}) {
  return (
    <div className={CELL} title={hint}>
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="mt-0.5 text-xl font-semibold tracking-tight break-words">{children}</dd>
    </div>
  );
}
