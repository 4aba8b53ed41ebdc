/** The account behind a model: its capital, which returns are measured by, and its position mode. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import type { Account } from "~/api/types";
import { money } from "~/format/numbers";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialogs/dialog";
import { about, SelectField, TextField } from "~/ui/field";
import { Failed, Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { Time } from "~/ui/time";
import { notify } from "~/ui/toasts";
import { capitalOf } from "./capital";

const FIELDS = ["capital", "amount", "currency", "positions"];

interface Place {
  project: string;
  model: string;
}

export function AccountForm({ project, model, done }: Place & { done?: () => void }) {
  const { data: account, error, refetch } = useQuery(ask.account(model));
  const { data: pnl } = useQuery(ask.pnl(model, 2, null, null));
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  if (!account || !pnl) return <Skeleton rows={4} />;
  return (
    <Fields
      key={account.changes[0]?.seq}
      project={project}
      model={model}
      account={account}
      usual={pnl.currency ?? "USD"}
      done={done}
    />
  );
}

/** The same form in a dialog, where a page lacks a figure because of it. */
export function AccountDialog({
  project,
  model,
  open,
  onOpenChange,
}: Place & {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Capital and positions">
      <AccountForm project={project} model={model} done={() => onOpenChange(false)} />
    </Dialog>
  );
}

function Fields({
  project,
  model,
  account,
  usual,
  done,
}: Place & {
  account: Account;
  usual: string;
  done?: (() => void) | undefined;
}) {
  const own = account.capital_from === "owner" ? account.capital : null;
  const [amount, setAmount] = useState(own ? String(own.amount) : "");
  const [currency, setCurrency] = useState(account.capital?.currency ?? usual);
  const [positions, setPositions] = useState(account.positions);
  const mayChange = useMay(project, "manage");
  const [wrong, setWrong] = useState<string | null>(null);
  const queries = useQueryClient();
  const save = useMutation({
    meta: { shown: true },
    mutationFn: (capital: ReturnType<typeof capitalOf>) =>
      unwrap(
        api.PATCH("/api/models/{model}/account", {
          params: { path: { model } },
          body: { positions, capital },
        }),
      ),
    onSuccess: async () => {
      notify({ tone: "good", text: "Saved. The change is on the model's record." });
      done?.();
      await queries.invalidateQueries({ queryKey: ["model", model] });
    },
  });
  function submit(event: React.FormEvent) {
    event.preventDefault();
    try {
      const capital = capitalOf(amount, currency);
      setWrong(null);
      save.mutate(capital);
    } catch (problem) {
      setWrong((problem as Error).message);
    }
  }
  const refused = about(save.error, "capital", "amount");
  return (
    <form onSubmit={submit} noValidate>
      <fieldset className="grid gap-4" disabled={!mayChange}>
        <div className="grid gap-4 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
          <TextField
            label="Capital"
            hint={
              account.capital_from === "deposit" ? "empty: the first deposit" : "what it began with"
            }
            inputMode="decimal"
            placeholder={
              account.capital_from === "deposit" && account.capital
                ? money(account.capital.amount, null)
                : "10000"
            }
            value={amount}
            onChange={(event) => setAmount(event.target.value)}
            error={wrong ?? refused}
          />
          <TextField
            label="Currency"
            value={currency}
            maxLength={20}
            onChange={(event) => setCurrency(event.target.value)}
            error={about(save.error, "currency")}
          />
        </div>
        <SelectField
          label="Positions"
          value={positions}
          onChange={(event) => setPositions(event.target.value as Account["positions"])}
          error={about(save.error, "positions")}
        >
          <option value="signed">Long and short: a sell of more than is held opens a short</option>
          <option value="long_only">
            Long only: a sell closes what is held, the rest is a warning
          </option>
        </SelectField>
        <p className="text-sm text-soft">
          Returns, drawdown in percent and the Sharpe ratio are measured by the capital. Everyone
          who sees the record sees when it was changed.
          {!mayChange && " An owner or admin of the project can change it."}
          {account.changes[0] && (
            <>
              {" "}
              Last changed <Time at={account.changes[0].received_at} as="ago" />.
            </>
          )}
        </p>
        {save.error && !about(save.error, ...FIELDS) && <Failed error={save.error} />}
        {mayChange && (
          <Button
            type="submit"
            weight="main"
            className="justify-self-start"
            disabled={save.isPending}
          >
            Save the account
          </Button>
        )}
      </fieldset>
    </form>
  );
}
