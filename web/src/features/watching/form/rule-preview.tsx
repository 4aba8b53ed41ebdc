/** What a rule would have done in the last 30 days, drawn over the model's profit and loss. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import { sparkPath } from "~/charts/sparkline";
import { plural } from "~/format/numbers";
import { lasting, stamp } from "~/format/times";
import { Failed, Panel, Skeleton } from "~/ui/panel";
import { Time } from "~/ui/time";
import { type Condition, watchingKey } from "../queries";
import { amount } from "../words";
import { inForm, isAtField } from "./checks";
import { bodyOf, type Draft, lacking, MARKED } from "./draft";
import { bands, type Stretch } from "./stretches";

const [WIDTH, HEIGHT, POINTS] = [400, 96, 200];
/** Stretches that are listed; of more it says how many there are. */
const LISTED = 6;
/** Milliseconds without another key. */
const SETTLES = 400;
const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** What the server says of the rule, once somebody has stopped writing. */
export function usePreview(project: string, draft: Draft, condition: Condition | undefined) {
  const settled = useSettled(draft);
  const body = bodyOf(settled, condition);
  const isWhole = [draft, settled].every((one) => lacking(one, condition) === null);
  return useQuery({
    queryKey: [...watchingKey(project), "preview", body],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/projects/{project}/rules/preview", {
          params: { path: { project } },
          body,
          signal,
        }),
      ),
    enabled: isWhole && condition?.has_preview === true && settled.condition === condition.name,
    placeholderData: (old) => old,
    retry: false,
  });
}

export function RulePreview({
  draft,
  condition,
  missing,
  models,
  found,
}: {
  models: readonly { id: string; name: string }[];
  draft: Draft;
  condition: Condition | undefined;
  missing: string | null;
  found: ReturnType<typeof usePreview>;
}) {
  const names = new Map(models.map((one) => [one.id, one.name]));
  const error = inForm(found.error, condition);
  const ahead = isAtField(error, condition) ? MARKED : missing;
  return (
    <Panel title="The last 30 days">
      {!condition ? (
        <p className="text-soft">Choose what to watch, and see here when it would have fired.</p>
      ) : condition.has_preview && ahead !== null ? (
        <p className="text-soft">{ahead} Then see here when it would have fired.</p>
      ) : !condition.has_preview ? (
        <p className="text-soft">
          What this rule looks at is not kept, so nobody can say what it would have found before.
        </p>
      ) : error ? (
        <Failed error={error} retry={() => void found.refetch()} />
      ) : !found.data ? (
        <Skeleton rows={4} />
      ) : (
        <Found
          model={draft.model}
          stretches={found.data.stretches}
          since={found.data.looked_at_since}
          note={found.data.note ?? ""}
          unit={draft.unit}
          names={draft.model ? NO_NAMES : names}
        />
      )}
    </Panel>
  );
}

/** What somebody has stopped writing. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLES);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function Found({
  model,
  stretches,
  since,
  note,
  unit,
  names,
}: {
  model: string;
  stretches: readonly Stretch[];
  since: number;
  note: string;
  unit: string;
  /** Of models, where it looks at several. */
  names: ReadonlyMap<string, string>;
}) {
  const now = Date.now() / 1000;
  const fired = stretches.filter((one) => one.fired_at !== null);
  return (
    <div className="grid gap-3">
      <p className="font-medium" aria-live="polite">
        {fired.length
          ? `It would have fired ${fired.length === 1 ? "once" : plural(fired.length, "time")}.`
          : "It would not have fired."}
      </p>
      <Drawn model={model} stretches={stretches} since={since} now={now} />
      {note && <p className="text-sm text-soft [overflow-wrap:anywhere]">{note}</p>}
      {fired.length > 0 && (
        <ol className="grid gap-1 text-sm">
          {fired
            .slice(-LISTED)
            .toReversed()
            .map((one) => (
              <li
                key={`${one.began_at} ${one.subject}`}
                className="flex flex-wrap justify-between gap-x-3"
              >
                <span className="min-w-0 [overflow-wrap:anywhere]">
                  <Time at={one.fired_at} as="stamp" />
                  {names.has(one.subject) && (
                    <>
                      {" "}
                      <bdi>{names.get(one.subject)}</bdi>
                    </>
                  )}
                </span>
                <span className="text-soft">
                  {one.resolved_at === null
                    ? "still"
                    : `for ${lasting(one.resolved_at - (one.fired_at ?? one.began_at))}`}
                  {one.value !== null && `, ${amount(one.value, unit)}`}
                </span>
              </li>
            ))}
          {fired.length > LISTED && (
            <li className="text-soft">and {fired.length - LISTED} before</li>
          )}
        </ol>
      )}
    </div>
  );
}

/** Bands where it held, darker where it would have fired, over the curve of the model. */
function Drawn({
  model,
  stretches,
  since,
  now,
}: {
  model: string;
  stretches: readonly Stretch[];
  since: number;
  now: number;
}) {
  const from = Math.floor(since / 60) * 60;
  const { data } = useQuery({
    ...ask.pnl(model, POINTS, { from, to: from + 31 * 86_400 }, null),
    enabled: model !== "",
  });
  const curve = (data?.series ?? []).filter(({ time }) => time >= since);
  const [first, last] = [curve[0], curve.at(-1)];
  const x = (time: number) => ((time - since) / (now - since)) * WIDTH;
  const path = sparkPath(curve, 100, HEIGHT);
  return (
    <figure>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="block h-24 w-full rounded-md bg-sunken"
        aria-hidden="true"
      >
        {bands(stretches, since, now).map(({ from: begin, to, isFiring, subject }) => (
          <rect
            key={`${begin} ${to} ${isFiring} ${subject}`}
            x={x(begin)}
            width={Math.max(2, x(to) - x(begin))}
            y={0}
            height={HEIGHT}
            className={isFiring ? "fill-bad" : "fill-warn"}
            opacity={isFiring ? 0.45 : 0.3}
          />
        ))}
        {first && last && path && (
          <path
            d={path}
            transform={`translate(${x(first.time)} 0) scale(${(x(last.time) - x(first.time)) / 100} 1)`}
            vectorEffect="non-scaling-stroke"
            fill="none"
            className="stroke-ink"
            strokeWidth={1.4}
          />
        )}
      </svg>
      <figcaption className="mt-1 flex justify-between gap-3 text-xs text-soft">
        <span className="num">{stamp(since).slice(0, 10)}</span>
        {path && <span>Profit and loss</span>}
        <span>now</span>
      </figcaption>
    </figure>
  );
}
