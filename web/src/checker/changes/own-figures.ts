/** Later changes of a model's own figures (`set-pnl`), and of whose figures count (`auto-pnl`). */
import { LATE_AFTER } from "./newest";

type Values = ReadonlyMap<number, number | null>;

interface Said {
  receivedAt: number;
  body: Record<string, unknown>;
}

/** Each `set-pnl` has the whole series. A change is a value that is new, other or gone for the past. */
export class OwnFigures {
  private source = "computed";
  private isOff = false;
  private since: number | null = null;
  private known: Values = new Map();
  /** When values of the future were first said. */
  private readonly ahead = new Map<number, number>();

  /** What it changed after the fact, in words; `begun` is when anything else first counted. */
  take(kind: string, one: Said, begun: number | null): string[] {
    const facts: number[] = [];
    const said: string[] = [];
    if (kind === "auto-pnl") this.isOff = !(one.body.enabled ?? true);
    else {
      const past = this.replace(one);
      if (past.early) said.push(`${past.early} values dated into the future`);
      if (past.facts.length) said.push(`${past.facts.length} values of the past changed`);
      facts.push(...past.facts);
    }
    const starts = [begun, this.since].filter((at) => at !== null);
    const before = this.source;
    this.source = this.known.size ? "the model’s own" : this.isOff ? "none" : "computed";
    if (before !== this.source && starts.length) {
      facts.push(Math.min(...starts));
      if (one.receivedAt - Math.min(...starts) > LATE_AFTER) {
        said.unshift(`figures changed from ${before} to ${this.source}`);
      }
    }
    return said;
  }

  private replace(one: Said): { facts: number[]; early: number } {
    const [said, known] = [valuesIn(one.body), this.known];
    this.known = said;
    if (said.size) this.since ??= one.receivedAt;
    const all = new Set([...said.keys(), ...known.keys()]);
    const touched = [...all].filter(
      (at) => said.has(at) !== known.has(at) || said.get(at) !== known.get(at),
    );
    const early = touched.filter(
      (at) => said.has(at) && at - one.receivedAt > LATE_AFTER && !this.ahead.has(at),
    );
    for (const at of early) this.ahead.set(at, one.receivedAt);
    const facts = touched.map((at) => Math.min(at, this.ahead.get(at) ?? at));
    return {
      facts: facts.filter((at) => one.receivedAt - at > LATE_AFTER),
      early: early.length,
    };
  }
}

function valuesIn(body: Record<string, unknown>): Values {
  const points = Array.isArray(body.values) ? body.values : [];
  return new Map(
    points.map(({ time, value }: { time: number; value?: number | null }) => [time, value ?? null]),
  );
}
