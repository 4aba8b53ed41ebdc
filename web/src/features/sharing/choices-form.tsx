/** The form for a link: what it shows, and for how long. */
import { type FormEvent, useId, useState } from "react";
import { Button } from "~/ui/button";
import { about, SelectField, TextField } from "~/ui/field";
import { Failed } from "~/ui/panel";
import { type Draft, type Expiry, errorsIn, type Share, TOGGLES } from "./choices";

const EXPIRIES: [Expiry, string][] = [
  ["never", "Never"],
  ["day", "In a day"],
  ["week", "In a week"],
  ["month", "In 30 days"],
  ["until", "At a set time…"],
];

export function ChoicesForm({
  draft,
  onChange,
  isLive,
  changing,
  problem,
  busy,
  submit,
  cancel,
}: {
  draft: Draft;
  onChange: (draft: Draft) => void;
  /** Only a live record has no account value, so only there the form asks for a capital. */
  isLive: boolean;
  changing: Share | null;
  problem: unknown;
  busy: boolean;
  submit: () => void;
  cancel: () => void;
}) {
  const id = useId();
  const [tried, setTried] = useState(false);
  const wrong = tried ? errorsIn(draft) : {};
  const set = (some: Partial<Draft>) => onChange({ ...draft, ...some });
  function send(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    submit();
  }
  const expiries: [Expiry, string][] = changing
    ? [["kept", changing.expires_at === null ? "Never (unchanged)" : "Unchanged"], ...EXPIRIES]
    : EXPIRIES;
  const fields = ["title", "password", "base", "delay_hours", "expires_at"];
  return (
    <form aria-labelledby={id} className="grid gap-4" onSubmit={send} noValidate>
      <h3 id={id} className="text-base">
        {changing ? `Change ${changing.title ?? "a link"}` : "New link"}
      </h3>
      <fieldset className="grid gap-2">
        <legend className="sr-only">What is hidden</legend>
        {TOGGLES.map(([name, label, hint]) => (
          <div key={name} className="flex items-start gap-2.5">
            <input
              id={`${id}-${name}`}
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={draft[name]}
              aria-describedby={`${id}-${name}-hint`}
              onChange={(event) => set({ [name]: event.target.checked })}
            />
            <div className="min-w-0">
              <label htmlFor={`${id}-${name}`} className="font-medium">
                {label}
              </label>
              <p id={`${id}-${name}-hint`} className="text-sm text-soft">
                {hint}
              </p>
            </div>
          </div>
        ))}
      </fieldset>
      <TextField
        label="Title"
        hint={draft.hide_symbols ? "shown unchanged" : "default: the model's name"}
        value={draft.title}
        maxLength={120}
        error={about(problem, "title")}
        onChange={(event) => set({ title: event.target.value })}
      />
      <div className="grid grid-cols-2 gap-4">
        <TextField
          label="Delay"
          hint="hours"
          inputMode="numeric"
          value={draft.delay}
          error={wrong.delay ?? about(problem, "delay_hours")}
          onChange={(event) => set({ delay: event.target.value.trim() })}
        />
        {isLive && (
          <TextField
            label="Capital"
            hint="for percentages"
            inputMode="decimal"
            placeholder="25000"
            value={draft.base}
            error={wrong.base ?? about(problem, "base")}
            onChange={(event) => set({ base: event.target.value })}
          />
        )}
        <SelectField
          label="Expires"
          value={draft.expiry}
          error={about(problem, "expires_at")}
          onChange={(event) => set({ expiry: event.target.value as Expiry })}
        >
          {expiries.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        {draft.expiry === "until" && (
          <TextField
            label="Expires at"
            type="datetime-local"
            value={draft.until}
            error={wrong.until}
            onChange={(event) => set({ until: event.target.value })}
          />
        )}
        <TextField
          label="Password"
          hint={changing?.has_password ? "leave empty to keep it" : "optional"}
          type="password"
          autoComplete="new-password"
          value={draft.password}
          error={about(problem, "password")}
          onChange={(event) => set({ password: event.target.value })}
        />
      </div>
      {problem !== null && !about(problem, ...fields) && <Failed error={problem} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" weight="main" icon="link" disabled={busy}>
          {changing ? "Save" : "Create link"}
        </Button>
        {changing && <Button onClick={cancel}>Cancel</Button>}
      </div>
    </form>
  );
}
