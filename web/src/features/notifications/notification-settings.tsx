/** Choosing the notifications of this browser, and why there are none. */
import { useState } from "react";
import type { Me } from "~/api/queries";
import { Button } from "~/ui/button";
import { Notice, Panel } from "~/ui/panel";
import { allow, OBSTACLES, permission, show } from "./browser";
import { type Choices, choose, isOn, USUAL, useChoices } from "./choices";
import type { Topic } from "./news";

const TOPICS: [Topic, string, string][] = [
  [
    "trouble",
    "Models in trouble",
    "A model crashed, gave up, stopped by itself, or its host is silent.",
  ],
  ["orders", "Filled orders", "Each order of a model, as soon as it is filled."],
  [
    "server",
    "Problems of the server",
    "Part of the server stopped working. Only its operator sees this.",
  ],
];

export function NotificationSettings({ me }: { me: Me }) {
  const choices = useChoices(me.id);
  const [allowed, setAllowed] = useState(permission);
  const keep = (wanted: Choices) => choose(me.id, wanted);
  async function turnOn() {
    const now = await allow();
    setAllowed(now);
    if (now === "granted") keep(USUAL);
  }
  const isActive = allowed === "granted" && isOn(choices);
  return (
    <Panel title="Notifications of this browser">
      <p className="mb-3 text-soft">
        While Tapeline is open in a tab, also a hidden one, the browser tells you what happens in
        that tab's project. Nothing is sent once the last tab is closed.
      </p>
      {allowed !== "granted" && allowed !== "default" ? (
        <Notice tone="warn">{OBSTACLES[allowed]}</Notice>
      ) : !isActive ? (
        <Button onClick={() => void turnOn()}>Turn on notifications</Button>
      ) : (
        <>
          <div className="grid gap-2">
            {TOPICS.filter(([topic]) => topic !== "server" || me.is_operator).map(
              ([topic, label, hint]) => (
                <label key={topic} className="flex items-start gap-2">
                  <input
                    type="checkbox"
                    checked={choices[topic]}
                    onChange={(event) => keep({ ...choices, [topic]: event.target.checked })}
                    className="mt-1 accent-[var(--accent)]"
                  />
                  <span>
                    {label}
                    <span className="block text-sm text-soft">{hint}</span>
                  </span>
                </label>
              ),
            )}
          </div>
          <div className="mt-3 flex flex-wrap gap-2">
            <Button onClick={() => void tryOut()}>Show an example</Button>
            <Button onClick={() => keep({ trouble: false, orders: false, server: false })}>
              Turn off
            </Button>
          </div>
        </>
      )}
    </Panel>
  );
}

function tryOut(): Promise<void> {
  return show({
    topic: "trouble",
    title: "An example of Tapeline",
    body: "This is what a notification looks like.",
    path: "/account",
    tag: "example",
  });
}
