/** Which hours of which weekdays were good to enter: a grid of a week. */
import { ground, strongestOf } from "~/features/backtests/report/months";
import { gain, integer, plural } from "~/format/numbers";
import { Panel } from "~/ui/panel";
import { TableFile } from "~/ui/tables/table-file";
import type { Group } from "./queries";
import { GROUP_FILE } from "./symbol-table";

const WEEKDAYS = [
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
  "Sunday",
] as const;
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));

export function WeekGrid({
  slots,
  currency,
}: {
  slots: readonly Group[];
  currency: string | null;
}) {
  const known = new Map(slots.map((one) => [one.key, one]));
  const full = strongestOf(slots.map(({ profit }) => profit));
  return (
    <Panel
      title="Hours and weekdays"
      note="of the entry, in UTC"
      flush
      aside={<TableFile name="Hours and weekdays" columns={GROUP_FILE} rows={slots} />}
    >
      <div
        tabIndex={0}
        role="region"
        aria-label="Hours and weekdays"
        className="relative overflow-x-auto focus-visible:-outline-offset-2"
      >
        <table className="num w-full border-separate border-spacing-px text-center text-xs">
          <caption className="sr-only">Round trips by weekday and hour of their entry</caption>
          <thead className="text-soft">
            <tr>
              <th scope="col" className="sticky left-0 z-10 bg-surface px-3 text-left font-medium">
                <span className="sr-only">Weekday</span>
              </th>
              {HOURS.map((hour) => (
                <th key={hour} scope="col" className="min-w-6.5 py-1.5 font-medium">
                  {hour}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {WEEKDAYS.map((day) => (
              <tr key={day}>
                <th
                  scope="row"
                  className="sticky left-0 z-10 bg-surface py-1 pr-2 pl-3 text-left font-normal"
                >
                  {day.slice(0, 3)}
                </th>
                {HOURS.map((hour) => (
                  <Slot
                    key={hour}
                    group={known.get(`${day} ${hour}`)}
                    full={full}
                    currency={currency}
                    name={`${day} ${hour}:00`}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="border-t border-line px-4 py-2 text-sm text-soft">
        The number counts round trips, the colour shows what they gained or lost together.
      </p>
    </Panel>
  );
}

function Slot({
  group,
  full,
  currency,
  name,
}: {
  group: Group | undefined;
  full: number;
  currency: string | null;
  name: string;
}) {
  if (!group) return <td className="h-7 rounded-sm bg-sunken" />;
  const said = `${name}: ${plural(group.round_trips, "round trip")}, ${gain(group.profit, currency)}`;
  return (
    <td
      title={said}
      className="h-7 rounded-sm"
      style={{ backgroundColor: ground(group.profit, full) }}
    >
      {integer(group.round_trips)}
      <span className="sr-only">, {gain(group.profit, currency)}</span>
    </td>
  );
}
