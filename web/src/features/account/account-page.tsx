/** Your account: appearance, name, password and sign-ins. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import { NotificationSettings } from "~/features/notifications/notification-settings";
import { plural } from "~/format/numbers";
import { useTitle } from "~/ui/address";
import { chooseRising, chooseTheme, type Rising, type Theme, useAppearance } from "~/ui/appearance";
import { Button } from "~/ui/button";
import { about, TextField } from "~/ui/field";
import { Gain } from "~/ui/figures";
import { Failed, PageHead, Panel, Skeleton } from "~/ui/panel";
import { notify } from "~/ui/toasts";
import { SignIns } from "./sign-ins";

export function AccountPage() {
  const { data: me } = useQuery(ask.me);
  useTitle("Account");
  if (!me) return <Skeleton />;
  return (
    <div className="mx-auto grid max-w-3xl gap-4">
      <PageHead title="Account" lead={me.email} />
      <Appearance />
      <NotificationSettings me={me} />
      <Name key={me.name} me={me} />
      <Password email={me.email} />
      <SignIns />
    </div>
  );
}

const THEMES: [Theme, string][] = [
  ["system", "Same as the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];
const RISINGS: [Rising, string][] = [
  ["green", "Green is up"],
  ["red", "Red is up"],
  ["blue", "Blue is up"],
];

function Appearance() {
  const { theme, rising } = useAppearance();
  return (
    <Panel title="Appearance">
      <div className="grid gap-4 sm:grid-cols-2">
        <Choice legend="Theme" name="theme" options={THEMES} chosen={theme} choose={chooseTheme} />
        <div>
          <Choice
            legend="Colours of gains and losses"
            name="rising"
            options={RISINGS}
            chosen={rising}
            choose={chooseRising}
          />
          <p className="mt-2 flex gap-4">
            <Gain value={128.4} currency="USD" />
            <Gain value={-64.2} currency="USD" />
          </p>
        </div>
      </div>
    </Panel>
  );
}

function Choice<T extends string>({
  legend,
  name,
  options,
  chosen,
  choose,
}: {
  legend: string;
  name: string;
  options: [T, string][];
  chosen: T;
  choose: (value: T) => void;
}) {
  return (
    <fieldset className="grid content-start gap-1">
      <legend className="mb-1 font-medium">{legend}</legend>
      {options.map(([value, label]) => (
        <label key={value} className="flex min-h-7 items-center gap-2">
          <input
            type="radio"
            name={name}
            checked={chosen === value}
            onChange={() => choose(value)}
            className="accent-[var(--accent)]"
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

function Name({ me }: { me: ask.Me }) {
  const [name, setName] = useState(me.name);
  const queries = useQueryClient();
  const save = useMutation({
    meta: { shown: true },
    mutationFn: () => unwrap(api.PATCH("/api/me", { body: { name } })),
    onSuccess: async () => {
      notify({ tone: "good", text: "Saved." });
      await queries.invalidateQueries({ queryKey: ["me"] });
    },
  });
  return (
    <Panel title="Name">
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <TextField
          label="Your name"
          className="min-w-56 flex-1"
          autoComplete="name"
          value={name}
          required
          maxLength={120}
          onChange={(event) => setName(event.target.value)}
          error={about(save.error, "name")}
        />
        <Button type="submit" disabled={save.isPending || name === me.name}>
          Save
        </Button>
      </form>
    </Panel>
  );
}

function Password({ email }: { email: string }) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const queries = useQueryClient();
  const change = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      unwrap(
        api.POST("/api/me/password", { body: { current_password: current, new_password: next } }),
      ),
    onSuccess: async ({ ended_sign_ins }) => {
      notify({
        tone: "good",
        text: `Your password was changed and ${plural(ended_sign_ins, "other sign-in")} ended.`,
      });
      setCurrent("");
      setNext("");
      await queries.invalidateQueries({ queryKey: ["me", "sign-ins"] });
    },
  });
  return (
    <Panel title="Password">
      <p className="mb-3 text-soft">
        Changing your password ends every other sign-in, including command lines and scripts.
      </p>
      <form
        className="grid gap-3 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <input type="email" value={email} autoComplete="username" readOnly hidden />
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          maxLength={1024}
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
          error={about(change.error, "current_password")}
        />
        <TextField
          label="New password"
          hint="8 characters or more"
          type="password"
          autoComplete="new-password"
          required
          minLength={8}
          maxLength={1024}
          value={next}
          onChange={(event) => setNext(event.target.value)}
          error={about(change.error, "new_password", "password")}
        />
        {change.error && !about(change.error, "current_password", "new_password", "password") && (
          <div className="sm:col-span-2">
            <Failed error={change.error} />
          </div>
        )}
        <Button type="submit" className="justify-self-start" disabled={change.isPending}>
          Change password
        </Button>
      </form>
    </Panel>
  );
}
