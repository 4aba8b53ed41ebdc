/**
 * What happens when the session is over. A user who just navigated or acted is sent to sign-in and
 * comes back to the same place. A user who is only reading keeps the page and sees a note: a
 * background refresh must not take the page away.
 */
import type { Problem } from "./problem";

/** Milliseconds within which a request counts as part of the navigation before it. */
const SOON = 10_000;
const CODES = new Set(["unidentified", "invalid_token"]);

export interface Place {
  now(): number;
  here(): string;
  go(address: string): void;
}

const BROWSER: Place = {
  now: () => Date.now(),
  here: () => location.pathname + location.search,
  go: (address) => location.assign(address),
};

export class Session {
  #isLost = false;
  #moved: number;
  readonly #watchers = new Set<() => void>();

  constructor(private readonly place: Place = BROWSER) {
    this.#moved = place.now();
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** For `useSyncExternalStore`. */
  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** The user navigates. */
  move(to: string): void {
    this.#moved = this.place.now();
    if (this.#isLost) this.signIn(to);
  }

  /**
   * The server refused a request that was sent at `asked`. The returned promise never settles: the
   * request can only be answered after sign-in, and until then the page keeps what it shows.
   */
  refused(method: string, asked = this.place.now()): Promise<never> {
    const isOurs = method !== "GET" || asked - this.#moved < SOON;
    if (isOurs) this.signIn(this.place.here());
    else if (!this.#isLost) {
      this.#isLost = true;
      for (const watcher of this.#watchers) watcher();
    }
    return new Promise<never>(() => undefined);
  }

  signIn(to = this.place.here()): void {
    this.place.go(`/auth/signin?redirectUrl=${encodeURIComponent(to)}`);
  }
}

export const session = new Session();

/** Whether an error means that the session is over, and not, for example, a wrong password. */
export function isSignedOut(problem: Problem): boolean {
  return problem.status === 401 && CODES.has(problem.code);
}
