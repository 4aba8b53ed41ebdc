/** What a record says about when its events arrived, and which of them no signature covers. */
import type { Event } from "../lines/lines";
import type { Change, Checked } from "./outcome";

/** Seconds: events that arrive at once may be stored in another order, within moments. */
const SET_BACK = 60;

/** What events said since the last signature. Anyone could have added them. */
interface Waiting {
  changes: Change[];
  setBack: number;
  setBackBy: number;
}

export class Arrivals {
  private newest = -Infinity;
  private waiting = nothing();

  constructor(private readonly found: Checked) {}

  /** Takes an event; `fields` gives its shown fields. */
  take(event: Event, fields: (event: Event) => Record<string, unknown>): void {
    const { found, waiting } = this;
    const { seq, kind, receivedAt } = event;
    if (kind === "account-settings") {
      waiting.changes.push({ seq, receivedAt, fields: fields(event) });
    }
    if (receivedAt < this.newest - SET_BACK) {
      waiting.setBack++;
      waiting.setBackBy = Math.max(waiting.setBackBy, this.newest - receivedAt);
    }
    this.newest = Math.max(this.newest, receivedAt);
    found.unsignedFrom ??= receivedAt;
    found.unsignedUntil = receivedAt;
  }

  takeRemoved(removed: Map<string, number>, receivedAt: number): void {
    const { found } = this;
    for (const [kind, count] of removed) {
      found.removed.set(kind, (found.removed.get(kind) ?? 0) + count);
    }
    found.removedUntil = Math.max(found.removedUntil, receivedAt);
  }

  /** A signature covers all events so far. */
  signed(): void {
    const { found, waiting } = this;
    found.unsignedFrom = found.unsignedUntil = null;
    for (const change of waiting.changes) found.changes.push(change);
    found.setBack += waiting.setBack;
    found.setBackBy = Math.max(found.setBackBy, waiting.setBackBy);
    this.waiting = nothing();
  }
}

function nothing(): Waiting {
  return { changes: [], setBack: 0, setBackBy: 0 };
}
