/** What reported orders do not explain of the account's value on the exchange. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";
import type { Point } from "~/api/types";
import { money } from "~/format/numbers";
import { Gain } from "~/ui/figures";
import { Time } from "~/ui/time";

export function Unexplained({ model }: { model: string }) {
  const { data } = useQuery(ask.reportedAccount(model));
  if (!data?.unexplained) return null;
  const { time, reported, difference } = data.unexplained;
  const rows = grew(data.differences ?? []) ? (data.differences ?? []).toReversed() : [];
  return (
    <section aria-label="Not explained by reported orders" className="mt-3">
      <p>
        Not explained by reported orders: <Gain value={difference} currency={data.currency} /> of{" "}
        {money(reported, data.currency)}, which the account was worth on the exchange (
        <Time at={time} />
        ).
      </p>
      {rows.length > 0 && (
        <details className="mt-1">
          <summary className="cursor-pointer text-warn">The difference has grown</summary>
          <ul className="mt-2 grid max-w-sm gap-1">
            {rows.map((one) => (
              <li key={one.time} className="flex justify-between gap-4">
                <Time at={one.time} />
                <Gain value={one.value} currency={data.currency} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** Whether the last difference is larger than the first. */
export function grew(points: readonly Point[]): boolean {
  const known = points.flatMap(({ value }) => (value === null ? [] : [Math.abs(value)]));
  const [first, last] = [known[0], known.at(-1)];
  return first !== undefined && last !== undefined && last > first;
}
