/** The differences between two versions: description, Python, plan, size and arguments. */
import { useState } from "react";
import type { Version } from "~/api/queries";
import { bytes } from "~/format/numbers";
import { Panel } from "~/ui/panel";
import { changes } from "./diff";

export function VersionChanges({ versions }: { versions: readonly Version[] }) {
  const [chosen, setChosen] = useState<{ now?: string; before?: string }>({});
  const now = versions.find((one) => one.version_id === chosen.now) ?? versions[0];
  const place = now ? versions.indexOf(now) : 0;
  const before =
    versions.find((one) => one.version_id === chosen.before) ??
    versions[place + 1] ??
    versions.find((one) => one !== now);
  if (!now || !before) return null;
  return (
    <Panel
      title="What changed"
      aside={
        <div className="flex flex-wrap items-center gap-2 text-sm text-soft">
          <Choice
            label="Version"
            versions={versions}
            value={now.version_id}
            choose={(id) => setChosen({ now: id })}
          />
          since
          <Choice
            label="Earlier version"
            versions={versions}
            value={before.version_id}
            choose={(id) => setChosen({ now: now.version_id, before: id })}
          />
        </div>
      }
    >
      <Description before={before.description} now={now.description} />
      <Facts before={before} now={now} />
    </Panel>
  );
}

function Choice({
  label,
  versions,
  value,
  choose,
}: {
  label: string;
  versions: readonly Version[];
  value: string;
  choose: (id: string) => void;
}) {
  return (
    <select
      aria-label={label}
      className="field w-auto"
      value={value}
      onChange={(event) => choose(event.target.value)}
    >
      {versions.map((one) => (
        <option key={one.version_id} value={one.version_id}>
          v{one.version}
        </option>
      ))}
    </select>
  );
}

const LOOKS = {
  same: "",
  added: "rounded-sm bg-good-ground text-good no-underline",
  removed: "rounded-sm bg-bad-ground text-bad",
} as const;

function Description({ before, now }: { before: string; now: string }) {
  if (before === now)
    return (
      <p className="text-soft">
        {now ? "Both have the same description." : "Neither has a description."}
      </p>
    );
  return (
    <p className="max-w-prose whitespace-pre-wrap [overflow-wrap:anywhere]">
      {changes(before, now).map(({ text, change }, place) => {
        const Mark = change === "added" ? "ins" : change === "removed" ? "del" : "span";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have only their position
          <Mark key={place} className={LOOKS[change]}>
            {text}
          </Mark>
        );
      })}
    </p>
  );
}

function Facts({ before, now }: { before: Version; now: Version }) {
  const rows: [string, string, string][] = [
    ["Python", before.python_version, now.python_version],
    ["Plan", before.plan, now.plan],
    ["Archive", bytes(before.size), bytes(now.size)],
    ["Backtest arguments", args(before), args(now)],
  ];
  const differing = rows.filter(([, old, fresh]) => old !== fresh);
  if (differing.length === 0) return null;
  return (
    <dl className="mt-3 grid gap-1 border-t border-line pt-3 text-sm">
      {differing.map(([name, old, fresh]) => (
        <div key={name} className="flex flex-wrap gap-x-2">
          <dt className="w-40 text-soft">{name}</dt>
          <dd className="num min-w-0 [overflow-wrap:anywhere]">
            <del className={LOOKS.removed}>{old}</del> <span aria-hidden="true">→</span>{" "}
            <ins className={LOOKS.added}>{fresh}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function args({ backtest_args: values }: Version): string {
  return values && Object.keys(values).length > 0 ? JSON.stringify(values) : "none";
}
