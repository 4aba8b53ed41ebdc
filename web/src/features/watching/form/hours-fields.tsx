/** The hours in which a rule counts: always, at some times of the week, or while an exchange is open. */
import { about, SelectField, TextField } from "~/ui/field";
import { CheckField } from "../check-field";
import { DAYS, type Draft, type Hours } from "./draft";

const NAMES: Record<string, string> = {
  mon: "Mon",
  tue: "Tue",
  wed: "Wed",
  thu: "Thu",
  fri: "Fri",
  sat: "Sat",
  sun: "Sun",
};

export function HoursFields({
  draft,
  change,
  error,
}: {
  draft: Draft;
  change: (next: Partial<Draft>) => void;
  error: unknown;
}) {
  return (
    <fieldset className="grid gap-3">
      <legend className="sr-only">Hours</legend>
      <SelectField
        label="Counts"
        value={draft.hours}
        onChange={(event) => change({ hours: event.target.value as Hours })}
        error={about(error, "hours")}
      >
        <option value="always">Always</option>
        <option value="times">At some times of the week</option>
        <option value="calendar">While an exchange is open</option>
      </SelectField>
      {draft.hours === "calendar" && (
        <TextField
          label="Exchange"
          hint="its MIC, such as XNYS or XFRA"
          value={draft.calendar}
          spellCheck={false}
          onChange={(event) => change({ calendar: event.target.value })}
          error={about(error, "hours.calendar")}
        />
      )}
      {draft.hours === "times" && <Times draft={draft} change={change} error={error} />}
    </fieldset>
  );
}

function Times({
  draft,
  change,
  error,
}: {
  draft: Draft;
  change: (next: Partial<Draft>) => void;
  error: unknown;
}) {
  return (
    <>
      <div role="group" aria-label="Days" className="flex flex-wrap gap-x-4">
        {DAYS.map((day) => (
          <CheckField
            key={day}
            label={NAMES[day] ?? day}
            checked={draft.days.includes(day)}
            choose={(wanted) =>
              change({
                days: DAYS.filter((one) => (one === day ? wanted : draft.days.includes(one))),
              })
            }
          />
        ))}
      </div>
      {about(error, "hours.days") && <p className="text-bad">{about(error, "hours.days")}</p>}
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3">
        <TextField
          label="From"
          placeholder="09:00"
          value={draft.from}
          onChange={(event) => change({ from: event.target.value })}
          error={about(error, "hours.from")}
        />
        <TextField
          label="To"
          placeholder="17:30"
          value={draft.to}
          onChange={(event) => change({ to: event.target.value })}
          error={about(error, "hours.to")}
        />
        <TextField
          label="Time zone"
          className="col-span-2 sm:col-span-1"
          placeholder="Europe/Berlin"
          value={draft.zone}
          spellCheck={false}
          onChange={(event) => change({ zone: event.target.value })}
          error={about(error, "hours.zone")}
        />
      </div>
    </>
  );
}
