/** Which queries an event makes stale. Many events cause one refresh, so a busy model causes no flood. */
export type Topic =
  | "facts"
  | "pnl"
  | "orders"
  | "events"
  | "screener"
  | "metrics"
  | "versions"
  | "runs"
  | "backtests";

const BY_KIND: Record<string, readonly Topic[]> = {
  lifecycle: ["facts", "runs", "versions", "pnl"],
  "used-symbol": ["facts"],
  "used-exchange": ["facts"],
  event: ["events"],
  "spot-market": ["orders", "pnl", "metrics"],
  "spot-limit": ["orders", "pnl", "metrics"],
  "spot-stop": ["orders", "pnl", "metrics"],
  "update-trade": ["orders", "pnl", "metrics"],
  "update-annotation": ["orders"],
  "mark-price": ["pnl"],
  cash: ["pnl", "metrics"],
  position: ["pnl", "metrics"],
  "account-settings": ["pnl", "metrics"],
  "account-value": ["pnl"],
  "screener-result": ["screener"],
  "set-pnl": ["pnl", "metrics"],
  "auto-pnl": ["pnl", "metrics"],
  "set-custom-metric": ["metrics"],
  statement: ["facts", "runs"],
  "backtest-status": ["backtests"],
  "backtest-result": ["backtests"],
};

/** Every kind of event on a model's stream. */
export const KINDS: readonly string[] = [...Object.keys(BY_KIND), "log", "backtest-log"];

/** The topics that a list of models shows. */
const IN_LISTS = new Set<Topic>(["facts", "orders", "pnl", "backtests"]);

export function topicsOf(kind: string): readonly Topic[] {
  return BY_KIND[kind] ?? [];
}

export function concernsLists(kinds: readonly string[]): boolean {
  return (
    kinds.length === 0 || kinds.some((kind) => topicsOf(kind).some((one) => IN_LISTS.has(one)))
  );
}

/** Collects stale topics and refreshes them at most once per `pause` milliseconds, the first at once. */
export class Refresher {
  readonly #waiting = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly refresh: (topics: ReadonlySet<string>) => void,
    private readonly pause = 1_000,
  ) {}

  ask(...topics: readonly string[]): void {
    for (const topic of topics) this.#waiting.add(topic);
    if (this.#timer === null && this.#waiting.size > 0) this.#tell();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #tell(): void {
    const told = new Set(this.#waiting);
    this.#waiting.clear();
    this.refresh(told);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#waiting.size > 0) this.#tell();
    }, this.pause);
  }
}
