/** The Sharpe ratio, and how much of it remains when the number of trials is taken into account. */

import { verdict } from "~/features/backtests/metrics";
import type { Trials } from "~/features/backtests/types";
import { integer, percent, ratio } from "~/format/numbers";
import { Panel } from "~/ui/panel";

export function DeflatedSharpe({ trials }: { trials: Trials }) {
  const { count, sharpe, expected_best: luck, deflated_sharpe: deflated } = trials;
  const top = Math.max(Math.abs(sharpe ?? 0), Math.abs(luck ?? 0), 0.01);
  return (
    <Panel title="Skill or luck">
      {sharpe === null || deflated === null ? (
        <p className="text-soft">{trials.reason ?? "There is no Sharpe ratio to judge."}</p>
      ) : (
        <>
          <dl className="grid gap-3">
            <Bar
              name="Sharpe ratio, unadjusted"
              text={ratio(sharpe)}
              share={sharpe / top}
              tone="bg-accent"
            />
            <Bar
              name={
                count === 1
                  ? "Expected from luck alone, with one trial"
                  : `Expected from luck alone, best of ${integer(count)} trials`
              }
              text={luck === null ? "–" : ratio(luck)}
              share={(luck ?? 0) / top}
              tone="bg-edge"
            />
            <div className="flex items-baseline justify-between gap-4 border-t border-line pt-2">
              <dt title={trials.explanation}>Adjusted for trials: probability of skill</dt>
              <dd className="num text-xl font-semibold whitespace-nowrap">{percent(deflated)}</dd>
            </div>
          </dl>
          <p className="mt-1">{verdict(count, deflated)}</p>
          <p className="mt-1 text-sm text-soft">{trials.explanation}</p>
        </>
      )}
    </Panel>
  );
}

function Bar({
  name,
  text,
  share,
  tone,
}: {
  name: string;
  text: string;
  share: number;
  tone: string;
}) {
  return (
    <div className="flex flex-wrap items-baseline justify-between gap-x-4">
      <dt className="min-w-0 flex-1">{name}</dt>
      <dd className="num font-medium">{text}</dd>
      <dd aria-hidden="true" className="mt-1 h-1.5 w-full overflow-hidden rounded-sm bg-sunken">
        <div
          className={`h-full ${tone}`}
          style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }}
        />
      </dd>
    </div>
  );
}
