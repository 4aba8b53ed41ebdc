/** An account beside a benchmark: a chosen symbol, or its own symbols bought once and held. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { ChartFigure } from "~/charts/figure/chart-figure";
import { type Pane, seenOf, type View } from "~/charts/panes";
import { percent } from "~/format/numbers";
import { useView } from "~/ui/address";
import { Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { Select } from "~/ui/select";
import { MetricValue } from "./metric-value";
import { signedPercent } from "./metrics";
import type { Comparing } from "./queries";
import type { Benchmark } from "./types";

const HELD = "buy-and-hold";

export function BenchmarkPanel({
  symbols,
  comparing,
  canHold = true,
}: {
  symbols: readonly string[];
  comparing: Comparing;
  /** Whether buying and holding its own symbols is offered. */
  canHold?: boolean;
}) {
  const [{ benchmark: chosen = "" }, change] = useView<"benchmark" | "against">();
  const names = [...new Set([...symbols, chosen])].filter((one) => one && one !== HELD);
  const choose = (benchmark: string) => change({ benchmark, against: "" });
  return (
    <Panel
      title="Against a benchmark"
      aside={
        <Select
          aria-label="Benchmark"
          className="w-auto max-w-full sm:max-w-96"
          value={chosen}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="">None</option>
          {canHold && <option value={HELD}>Buy and hold</option>}
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
      }
    >
      {chosen ? (
        <Compared name={chosen} comparing={comparing} />
      ) : (
        <p className="text-soft">
          Choose a symbol{canHold && ", or buying and holding its own symbols,"} to compare returns.
        </p>
      )}
    </Panel>
  );
}

function Compared({ name, comparing }: { name: string; comparing: Comparing }) {
  const { data, error, refetch, isPending } = useQuery({
    queryKey: [...comparing.key, name],
    queryFn: ({ signal }) => comparing.ask(name, signal),
  });
  const panes = useMemo<Pane[]>(() => (data ? panesOf(data) : []), [data]);
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  if (isPending) return <Skeleton rows={5} />;
  const [first, last] = [data?.items[0], data?.items.at(-1)];
  if (!data || !first || !last || last.time <= first.time) {
    return <Notice tone="info">{data?.reason ?? "There are too few days to compare."}</Notice>;
  }
  return (
    <div className="grid gap-4">
      <ChartFigure
        label={`Returns beside ${data.name}`}
        words={(seen) => returnsInWords(data, seen)}
        caption={sourcesInWords(data)}
        panes={panes}
        all={{ from: first.time, to: last.time }}
        height={260}
        address="against"
      />
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-4">
        {Object.entries(data.metrics).map(([name, one]) => (
          <div key={name} title={one.explanation}>
            <dt className="text-xs text-soft">{one.display_name}</dt>
            <dd>
              <MetricValue name={name} measure={one} currency={null} />
            </dd>
            {one.value === null && one.reason && (
              <dd className="text-xs text-soft">{one.reason}</dd>
            )}
          </div>
        ))}
      </dl>
    </div>
  );
}

export function panesOf({ name, items, account }: Benchmark): Pane[] {
  return [
    {
      id: "returns",
      weight: 1,
      scale: "percent",
      format: percent,
      curves: [
        { id: "account", label: "Account", colour: "accent", kind: "line", points: account },
        { id: "benchmark", label: name, colour: "series-4", kind: "line", dash: 1, points: items },
      ],
    },
  ];
}

/** Over the days in view, each from its own first value there. */
export function returnsInWords({ name, items, account }: Benchmark, seen: View): string {
  const over = (points: readonly { time: number; value: number | null }[]) => {
    const shown = seenOf(points, seen);
    const [first, last] = [shown[0]?.value, shown.at(-1)?.value];
    return first == null || last == null || first <= -1 ? null : (1 + last) / (1 + first) - 1;
  };
  const [own, other] = [over(account), over(items)];
  if (own === null || other === null) return "There is no day to compare in this range.";
  return `The account returned ${signedPercent(own)}, ${name} ${signedPercent(other)}.`;
}

function sourcesInWords({ sources, without_price: missing }: Benchmark): string {
  const said = Object.entries(sources).map(([symbol, from]) => `${symbol} from ${from.join(", ")}`);
  const prices = said.length ? `Prices: ${said.join("; ")}.` : "";
  return missing.length ? `${prices} Without a price: ${missing.join(", ")}.` : prices;
}
