/** The fields of a rule, made from what the server says about its conditions. */
import { SelectField, TextField, about as wrongAbout } from "~/ui/field";
import type { Condition } from "../queries";
import { ABOUTS, SEVERITIES, UNITS } from "../words";
import { ActionFields } from "./action-fields";
import { labelOf, type Mistakes } from "./checks";
import { about, type Draft, mayStop, wholeOf } from "./draft";
import { HoursFields } from "./hours-fields";

export interface Fields {
  project: string;
  draft: Draft;
  change: (next: Partial<Draft>) => void;
  replace: (draft: Draft) => void;
  conditions: readonly Condition[];
  severities: readonly string[];
  models: readonly { id: string; name: string }[];
  isNew: boolean;
  error: unknown;
  mistakes: Mistakes;
}

export function RuleFields(fields: Fields) {
  const { draft, change, severities, error, conditions } = fields;
  const condition = conditions.find((one) => one.name === draft.condition);
  return (
    <>
      <Subject {...fields} />
      {condition && (
        <>
          <Measures
            draft={draft}
            change={change}
            condition={condition}
            error={error}
            mistakes={fields.mistakes}
          />
          <div className="grid gap-4 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
            <TextField
              label="Name"
              hint="at most 100 characters"
              placeholder={condition.title}
              value={draft.name}
              maxLength={100}
              onChange={(event) => change({ name: event.target.value })}
              error={wrongAbout(error, "name")}
            />
            <SelectField
              label="Severity"
              value={draft.severity}
              onChange={(event) => change({ severity: event.target.value })}
              error={wrongAbout(error, "severity")}
            >
              {severities.map((one) => (
                <option key={one} value={one}>
                  {SEVERITIES[one]?.[0] ?? one}
                </option>
              ))}
            </SelectField>
          </div>
          <ActionFields {...fields} condition={condition} />
          <HoursFields draft={draft} change={change} error={error} />
        </>
      )}
    </>
  );
}

/** Which model, and which condition. Only those are offered that can be asked about it. */
function Subject({ draft, change, replace, conditions, models, isNew, error }: Fields) {
  const scope = draft.model ? "model" : "project";
  const offered = conditions.filter(
    (one) => one.scopes.includes(scope) || one.name === draft.condition,
  );
  const abouts = [...new Set(offered.map((one) => one.about))];
  const condition = conditions.find((one) => one.name === draft.condition);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="Look at"
        value={draft.model}
        disabled={!isNew}
        onChange={(event) => {
          const model = event.target.value;
          change({ model, stop: draft.stop && mayStop(model, condition) });
        }}
        error={wrongAbout(error, "model_id")}
      >
        <option value="">{wholeOf(condition)}</option>
        {models.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="When"
        value={draft.condition}
        onChange={(event) => {
          const next = conditions.find((one) => one.name === event.target.value);
          if (next) replace(about(draft, next));
        }}
        error={wrongAbout(error, "when")}
      >
        <option value="" disabled>
          Choose what to watch
        </option>
        {abouts.map((about) => (
          <optgroup key={about} label={ABOUTS[about] ?? about}>
            {offered
              .filter((one) => one.about === about)
              .map((one) => (
                <option key={one.name} value={one.name}>
                  {one.title}
                </option>
              ))}
          </optgroup>
        ))}
      </SelectField>
      {condition && <p className="text-soft sm:col-span-2">{condition.help}</p>}
    </div>
  );
}

/** The limit, the options of the condition, and for how long it must be true. */
function Measures({
  draft,
  change,
  condition,
  error,
  mistakes,
}: {
  draft: Draft;
  change: (next: Partial<Draft>) => void;
  condition: Condition;
  error: unknown;
  mistakes: Mistakes;
}) {
  const wrong = (field: string) => mistakes[field] ?? wrongAbout(error, field);
  return (
    <div className="grid items-end gap-4 sm:grid-cols-2">
      {condition.units.length > 0 && (
        <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)] items-end gap-2">
          <TextField
            label="Limit"
            inputMode="decimal"
            value={draft.limit}
            onChange={(event) => change({ limit: event.target.value })}
            error={wrong("limit")}
          />
          <SelectField
            label="Unit"
            value={draft.unit}
            onChange={(event) => change({ unit: event.target.value })}
            error={wrongAbout(error, "unit")}
          >
            {condition.units.map((one) => (
              <option key={one} value={one}>
                {UNITS[one] ?? one}
              </option>
            ))}
          </SelectField>
        </div>
      )}
      {condition.options.map((one) => (
        <TextField
          key={one.name}
          label={labelOf(`when.${one.name}`, condition) ?? one.name}
          hint={one.help}
          placeholder={one.kind === "duration" ? "10m" : ""}
          value={draft.options[one.name] ?? ""}
          spellCheck={false}
          onChange={(event) =>
            change({ options: { ...draft.options, [one.name]: event.target.value } })
          }
          error={wrong(`when.${one.name}`)}
        />
      ))}
      <TextField
        label={labelOf("for", condition) ?? ""}
        hint={condition.is_silence ? "such as 10m, 2h, 1d" : "such as 5m; empty: at once"}
        placeholder={condition.is_silence ? "1h" : ""}
        value={draft.lasting}
        spellCheck={false}
        onChange={(event) => change({ lasting: event.target.value })}
        error={wrong("for")}
      />
    </div>
  );
}
