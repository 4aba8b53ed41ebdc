/** What a rule does when it fires: who is told, who is told later, and what is stopped. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { about, SelectField, TextField } from "~/ui/field";
import { CheckField } from "../check-field";
import { type Condition, channels } from "../queries";
import type { Mistakes } from "./checks";
import { type Draft, mayStop, type Tells } from "./draft";

export function ActionFields({
  project,
  draft,
  change,
  condition,
  error,
  mistakes,
}: {
  project: string;
  draft: Draft;
  change: (next: Partial<Draft>) => void;
  condition: Condition;
  error: unknown;
  mistakes: Mistakes;
}) {
  const { data } = useQuery(channels(project));
  // One that was deleted since is still there to be unticked.
  const names = [
    ...new Set([...(data ?? []).map((one) => one.name), ...draft.channels, ...draft.later]),
  ];
  return (
    <fieldset className="grid gap-3">
      <legend className="sr-only">Actions</legend>
      <SelectField
        label="Then tell"
        value={draft.tells}
        onChange={(event) => change({ tells: event.target.value as Tells })}
        error={about(error, "do")}
      >
        <option value="all">Every channel of the project</option>
        <option value="some" disabled={names.length === 0}>
          Some channels
        </option>
        <option value="none">Nobody</option>
      </SelectField>
      {draft.tells === "some" && (
        <Names
          label="Channels"
          names={names}
          chosen={draft.channels}
          choose={(chosen) => change({ channels: chosen })}
        />
      )}
      {data?.length === 0 && (
        <p className="text-sm text-soft">
          The project has no channel yet: incidents are shown here and tell nobody.{" "}
          <Link to="/$project/channels" params={{ project }} className="link">
            Add a channel
          </Link>
        </p>
      )}
      <TextField
        label="If nobody acknowledges, tell again after"
        hint="such as 15m; empty: never"
        value={draft.after}
        spellCheck={false}
        onChange={(event) => change({ after: event.target.value })}
        error={mistakes.after}
      />
      {draft.after.trim() && names.length > 0 && (
        <Names
          label="Told then, every channel if none is chosen"
          names={names}
          chosen={draft.later}
          choose={(chosen) => change({ later: chosen })}
        />
      )}
      <div className="grid">
        <CheckField
          label={
            mayStop(draft.model, condition)
              ? "Stop the model"
              : "Stop the model: only for a rule that looks at models one by one"
          }
          checked={draft.stop}
          disabled={!mayStop(draft.model, condition)}
          choose={(stop) => change({ stop })}
        />
        <CheckField
          label="Halt the whole project: nothing starts again until somebody resumes"
          checked={draft.halt}
          choose={(halt) => change({ halt })}
        />
      </div>
      {(draft.stop || draft.halt) && (
        <p className="text-sm text-soft">
          Stopping sells nothing: positions at an exchange stay as they are.
        </p>
      )}
    </fieldset>
  );
}

function Names({
  label,
  names,
  chosen,
  choose,
}: {
  label: string;
  names: readonly string[];
  chosen: readonly string[];
  choose: (chosen: string[]) => void;
}) {
  return (
    <div role="group" aria-label={label} className="rounded-md border border-line px-3 py-1.5">
      <p className="text-sm text-soft">{label}</p>
      <div className="flex flex-wrap gap-x-5">
        {names.map((one) => (
          <CheckField
            key={one}
            label={<bdi>{one}</bdi>}
            checked={chosen.includes(one)}
            choose={(wanted) =>
              choose(names.filter((n) => (n === one ? wanted : chosen.includes(n))))
            }
          />
        ))}
      </div>
    </div>
  );
}
