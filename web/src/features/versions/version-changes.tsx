/** The differences between two versions besides their files: description, Python, plan, arguments. */
import type { Version } from "~/api/queries";
import { bytes } from "~/format/numbers";
import { changes } from "./diff";

export function VersionChanges({ before, now }: { before: Version; now: Version }) {
  return (
    <>
      <Description before={before.description} now={now.description} />
      <Facts before={before} now={now} />
    </>
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
  const pieces = changes(before, now);
  const isRewritten = pieces.every(({ change }) => change !== "same");
  return (
    <p dir="auto" className="max-w-prose whitespace-pre-line text-left [overflow-wrap:anywhere]">
      {pieces.map(({ text, change }, place) => {
        const Mark = change === "added" ? "ins" : change === "removed" ? "del" : "bdi";
        return (
          // Two texts that share nothing are two lines.
          <Mark
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have only their position
            key={place}
            dir="auto"
            className={`${LOOKS[change]} ${isRewritten ? "block not-first:mt-1" : ""}`}
          >
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
