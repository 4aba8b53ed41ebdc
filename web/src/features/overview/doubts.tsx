/** What a reader of the figures has to know: symbols they leave out, positions that do not agree. */
import type { Check, Pnl } from "~/api/types";
import { quantity } from "~/format/numbers";
import { Notice } from "~/ui/panel";
import { Time } from "~/ui/time";
import { disagreeing } from "./checks";

export function Doubts({ pnl }: { pnl: Pnl }) {
  const checks = disagreeing(pnl.checks);
  if (pnl.not_computed.length === 0 && checks.length === 0) return null;
  return (
    <ul aria-label="What to know about these figures" className="mt-3 grid gap-2">
      {pnl.not_computed.map((one) => (
        <li key={`${one.symbol} ${one.currency}`} className="[overflow-wrap:anywhere]">
          <Notice tone="warn">
            <b>{one.symbol}</b> is not computed and counts in no figure here. {one.reason}
          </Notice>
        </li>
      ))}
      {checks.map((one) => (
        <li key={one.symbol} className="[overflow-wrap:anywhere]">
          <Disagreement check={one} />
        </li>
      ))}
    </ul>
  );
}

function Disagreement({ check }: { check: Check }) {
  return (
    <Notice tone="warn">
      <b>{check.symbol}</b>: the model says that it holds {quantity(check.reported)}, the books hold{" "}
      {quantity(check.held)} (<Time at={check.time} />
      ). An order may be missing.
    </Notice>
  );
}
