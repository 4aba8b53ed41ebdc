/**
 * What to do when nobody is signed in any more. Who just went somewhere or did something is led to
 * sign-in and comes back to that place; who only looks keeps the page and is told. A page must not be
 * taken away under somebody's hands because it refreshed itself.
 */
import type { Problem } from "./problem";

/** Milliseconds within which a question belongs to the move before it. */
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

  /** Somebody goes somewhere. */
  move(to: string): void {
    this.#moved = this.place.now();
    if (this.#isLost) this.signIn(to);
  }

  /**
   * The server does not know us; `asked` is when it was asked. Never ends: what was asked can only
   * be answered after signing in, and until then the page stays as it is rather than showing an
   * error in place of what it had.
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

/** Whether a problem says that nobody is signed in; a wrong password is another thing. */
export function isUnknown(problem: Problem): boolean {
  return problem.status === 401 && CODES.has(problem.code);
}
