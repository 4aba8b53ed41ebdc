/** Mutes a rule for a while: it is evaluated, but opens no incident. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { Confirm } from "~/ui/dialogs/dialog";
import { SelectField, TextField } from "~/ui/field";
import { notify } from "~/ui/toasts";
import { type Rule, watchingKey } from "../queries";

const LENGTHS: readonly [seconds: number, label: string][] = [
  [3_600, "1 hour"],
  [8 * 3_600, "8 hours"],
  [86_400, "1 day"],
  [7 * 86_400, "1 week"],
  [30 * 86_400, "30 days"],
];

export function MuteDialog({
  project,
  rule,
  open,
  onOpenChange,
}: {
  project: string;
  rule: Rule;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const [seconds, setSeconds] = useState(3_600);
  const [why, setWhy] = useState("");
  const queries = useQueryClient();
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Mute ${rule.name}?`}
      action="Mute"
      act={async () => {
        await unwrap(
          api.POST("/api/rules/{rule}/mute", {
            params: { path: { rule: rule.rule_id } },
            body: { until: Date.now() / 1000 + seconds, why },
          }),
        );
        notify({ tone: "good", text: `${rule.name} is muted.` });
        await queries.invalidateQueries({ queryKey: watchingKey(project) });
      }}
    >
      <p>It still looks, but tells nobody and stops nothing until then. Everybody sees this.</p>
      <div className="mt-3 grid gap-3 text-ink">
        <SelectField
          label="For"
          value={seconds}
          onChange={(event) => setSeconds(Number(event.target.value))}
        >
          {LENGTHS.map(([length, label]) => (
            <option key={length} value={length}>
              {label}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Why"
          value={why}
          maxLength={1000}
          onChange={(event) => setWhy(event.target.value)}
        />
      </div>
    </Confirm>
  );
}
