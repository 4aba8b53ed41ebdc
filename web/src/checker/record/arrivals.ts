/** What a record says about when its events arrived, and which of them no signature covers. */
import { DATED } from "./kinds";
import type { Event } from "./lines";
import type { Change, Checked, Late } from "./outcome";

const LATE_AFTER = 300; // seconds
/** Seconds: events that arrive at once may be stored in another order, within moments. */
const SET_BACK = 60;
const LISTED = 20;

/** What events said since the last signature. Anyone could have added them. */
interface Waiting {
  late: Late[];
  lateCount: number;
  lateKinds: Map<string, number>;
  replaced: number[];
  changes: Change[];
  setBack: number;
  setBackBy: number;
}

export class Arrivals {
  private readonly cash = new Set<string>();
  private newest = -Infinity;
  private waiting = nothing();

  constructor(private readonly found: Checked) {}

  /** Takes an event; `fields` gives its shown fields. */
  take(event: Event, fields: (event: Event) => Record<string, unknown>): void {
    const { found, waiting } = this;
    const { seq, kind, receivedAt } = event;
    const seconds = receivedAt - event.time;
    if (seconds > LATE_AFTER && DATED.has(kind)) {
      waiting.lateKinds.set(kind, (waiting.lateKinds.get(kind) ?? 0) + 1);
      if (waiting.lateCount++ < LISTED) waiting.late.push({ seq, seconds, kind });
    }
    if (kind === "cash") this.takeCash(seq, fields(event).id);
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
    found.late.count += waiting.lateCount;
    found.late.items.push(...waiting.late.slice(0, LISTED - found.late.items.length));
    for (const [kind, many] of waiting.lateKinds) {
      found.lateKinds.set(kind, (found.lateKinds.get(kind) ?? 0) + many);
    }
    found.replaced.count += waiting.replaced.length;
    found.replaced.items.push(...waiting.replaced.slice(0, LISTED - found.replaced.items.length));
    for (const change of waiting.changes) found.changes.push(change);
    found.setBack += waiting.setBack;
    found.setBackBy = Math.max(found.setBackBy, waiting.setBackBy);
    this.waiting = nothing();
  }

  private takeCash(seq: number, id: unknown): void {
    if (typeof id !== "string") return;
    if (this.cash.has(id)) this.waiting.replaced.push(seq);
    this.cash.add(id);
  }
}

function nothing(): Waiting {
  return {
    late: [],
    lateCount: 0,
    lateKinds: new Map(),
    replaced: [],
    changes: [],
    setBack: 0,
    setBackBy: 0,
  };
}
