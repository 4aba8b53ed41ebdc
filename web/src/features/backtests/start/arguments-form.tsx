/** The arguments of a backtest: one field each, by its type, or all of them as raw JSON. */
import { useId, useState } from "react";
import type { Arguments } from "~/features/backtests/types";
import { SelectField, TextField } from "~/ui/field";
import {
  argumentsOf,
  type Field,
  fieldsOf,
  formatJson,
  InvalidArguments,
  readJson,
  refilled,
} from "./arguments";

export interface ArgumentsState {
  fields: Field[];
  json: string;
  isRaw: boolean;
}

export function stateOf(values: Arguments | null): ArgumentsState {
  const fields = fieldsOf(values);
  return { fields, json: formatJson(values ?? {}), isRaw: fields.length === 0 };
}

/** The arguments as filled in; throws InvalidArguments. */
export function read({ fields, json, isRaw }: ArgumentsState): Arguments {
  return isRaw ? readJson(json) : argumentsOf(fields);
}

export function ArgumentsForm({
  state,
  onChange,
  error,
}: {
  state: ArgumentsState;
  onChange: (state: ArgumentsState) => void;
  error: InvalidArguments | null;
}) {
  const id = useId();
  const [stuck, setStuck] = useState<InvalidArguments | null>(null);
  const problem = stuck ?? error;

  function turn(isRaw: boolean) {
    try {
      const values = read(state);
      setStuck(null);
      onChange({ isRaw, json: formatJson(values), fields: refilled(state.fields, values) });
    } catch (why) {
      if (why instanceof InvalidArguments) setStuck(why);
      else throw why;
    }
  }
  function type(name: string, text: string) {
    setStuck(null);
    onChange({
      ...state,
      fields: state.fields.map((one) => (one.name === name ? { ...one, text } : one)),
    });
  }

  return (
    <fieldset className="min-w-0 rounded-md border border-line p-3">
      <legend className="px-1 font-medium">Arguments</legend>
      <div
        role="group"
        aria-label="Input format"
        className="mb-3 inline-flex gap-0.5 rounded-md bg-sunken p-0.5"
      >
        {[false, true].map((isRaw) => (
          <button
            key={String(isRaw)}
            type="button"
            aria-pressed={state.isRaw === isRaw}
            onClick={() => state.isRaw !== isRaw && turn(isRaw)}
            className={`min-h-7 rounded-sm px-3 text-sm ${state.isRaw === isRaw ? "bg-surface font-medium shadow-sm" : "text-soft hover:text-ink"}`}
          >
            {isRaw ? "JSON" : "Form"}
          </button>
        ))}
      </div>
      {state.isRaw ? (
        <div>
          <label htmlFor={id} className="sr-only">
            Arguments as JSON
          </label>
          <textarea
            id={id}
            className="field font-mono text-xs"
            rows={Math.min(12, Math.max(4, state.json.split("\n").length))}
            spellCheck={false}
            value={state.json}
            aria-invalid={problem?.field === null}
            {...(problem?.field === null ? { "aria-describedby": `${id}-error` } : {})}
            onChange={(event) => {
              setStuck(null);
              onChange({ ...state, json: event.target.value });
            }}
          />
          {problem?.field === null && (
            <p id={`${id}-error`} role="alert" className="mt-1 text-bad">
              {problem.message}
            </p>
          )}
        </div>
      ) : state.fields.length === 0 ? (
        <p className="text-soft">
          This version declares no arguments: its platform.json has no backtest_args. To pass some
          anyway, switch to JSON.
        </p>
      ) : (
        <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,11rem),1fr))] gap-3">
          {state.fields.map((field) => (
            <Input
              key={field.name}
              field={field}
              error={problem?.field === field.name ? problem.message : null}
              onText={(text) => type(field.name, text)}
            />
          ))}
        </div>
      )}
    </fieldset>
  );
}

const HINTS: Partial<Record<Field["kind"], string>> = {
  json: "JSON",
  integer: "number",
  number: "number",
  date: "date",
};

function Input({
  field: { name, kind, text },
  error,
  onText,
}: {
  field: Field;
  error: string | null;
  onText: (text: string) => void;
}) {
  if (kind === "boolean") {
    return (
      <SelectField
        label={name}
        hint="yes or no"
        value={text}
        onChange={(event) => onText(event.target.value)}
      >
        <option value="true">true</option>
        <option value="false">false</option>
      </SelectField>
    );
  }
  const isNumber = kind === "integer" || kind === "number";
  return (
    <TextField
      label={name}
      hint={HINTS[kind]}
      error={error}
      type={kind === "date" ? "date" : "text"}
      spellCheck={false}
      autoComplete="off"
      {...(isNumber ? { inputMode: "decimal" as const } : {})}
      value={text}
      onChange={(event) => onText(event.target.value)}
    />
  );
}
