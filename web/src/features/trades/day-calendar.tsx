/** The result of each day of a month, by the exits of round trips. The address holds the month. */
import { ground, strongestOf } from "~/features/backtests/report/months";
import { compact, direction, gain, plural } from "~/format/numbers";
import { MONTHS } from "~/format/times";
import { useView } from "~/ui/address";
import { Button } from "~/ui/button";
import { Gain } from "~/ui/figures";
import { Panel } from "~/ui/panel";
import { TableFile } from "~/ui/tables/table-file";
import { type Day, monthsOf, sumOf, weeksOf } from "./calendar";
import type { Group } from "./queries";
import { GROUP_FILE } from "./symbol-table";

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

export function DayCalendar({
  days,
  currency,
}: {
  days: readonly Group[];
  currency: string | null;
}) {
  const [{ month: wanted = "" }, change] = useView<"month">();
  const months = monthsOf(days);
  const place = months.includes(wanted) ? months.indexOf(wanted) : months.length - 1;
  const month = months[place];
  if (!month) return null;
  const full = strongestOf(days.map(({ profit }) => profit));
  const sum = sumOf(month, days);
  const to = (step: number) => change({ month: months[place + step] ?? "" });
  return (
    <Panel
      title={titleOf(month)}
      note="by the day of the exit, in UTC"
      aside={
        <span className="flex flex-wrap items-center gap-2">
          <TableFile name="Results by day" columns={GROUP_FILE} rows={days} />
          <Button onClick={() => to(-1)} disabled={place === 0}>
            Earlier
          </Button>
          <Button onClick={() => to(1)} disabled={place === months.length - 1}>
            Later
          </Button>
        </span>
      }
      flush
    >
      <table className="num w-full table-fixed border-separate border-spacing-px p-2 text-xs">
        <caption className="sr-only">Results of {titleOf(month)} by day</caption>
        <thead className="text-soft">
          <tr>
            {WEEKDAYS.map((name) => (
              <th key={name} scope="col" className="py-1 text-center font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month, days).map((week) => (
            <tr key={week.find(({ number }) => number)?.number}>
              {week.map((day, at) => (
                <DayCell key={WEEKDAYS[at]} day={day} full={full} currency={currency} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="border-t border-line px-4 py-2 text-sm text-soft">
        {plural(sum.trips, "round trip")} ended in this month:{" "}
        <Gain value={sum.profit} currency={currency} />.
      </p>
    </Panel>
  );
}

function DayCell({
  day: { number, group },
  full,
  currency,
}: {
  day: Day;
  full: number;
  currency: string | null;
}) {
  if (number === null) return <td />;
  const title = group
    ? `${plural(group.round_trips, "round trip")}, ${gain(group.profit, currency)}`
    : undefined;
  return (
    <td
      title={title}
      className="h-12 rounded-sm bg-sunken px-1 py-0.5 align-top"
      style={group ? { backgroundColor: ground(group.profit, full) } : undefined}
    >
      <span className={`block ${group ? "" : "text-soft"}`}>{number}</span>
      {group && (
        <span className="block text-right tracking-tight break-all">
          {short(group.profit, currency)}
        </span>
      )}
      {title && <span className="sr-only">: {title}</span>}
    </td>
  );
}

/** Room for a few digits only: the rest is in the title and the sum. */
function short(profit: number | null, currency: string | null): string {
  if (profit === null) return "–";
  const way = direction(profit, currency);
  if (way === "flat") return "0";
  const sign = way === "up" ? "+" : "\u2212";
  const size = Math.abs(profit);
  return `${sign}${size >= 100 && size < 1_000 ? Math.round(size) : compact(size)}`;
}

function titleOf(month: string): string {
  return `${MONTHS[Number(month.slice(5)) - 1]} ${month.slice(0, 4)}`;
}
