/**
 * A live connection over server-sent events. The browser resumes it after the last event it saw; where
 * it gives up, we begin anew and say so, because then something may have been missed. A tab that nobody
 * sees lets go of it after a while: a browser has six connections for all tabs of a server.
 */
export type Connection = "connecting" | "live" | "behind";

export interface Arrived {
  kind: string;
  data: unknown;
}

export interface Source {
  readonly readyState: number;
  onopen: ((event: Event) => void) | null;
  onerror: ((event: Event) => void) | null;
  addEventListener(kind: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

export type Opener = (address: string) => Source;

/** Whether anybody can see the page. */
export interface Sight {
  isHidden(): boolean;
  watch(listener: () => void): () => void;
}

const TAB: Sight = {
  isHidden: () => typeof document !== "undefined" && document.hidden,
  watch: (listener) => {
    if (typeof document === "undefined") return () => undefined;
    document.addEventListener("visibilitychange", listener);
    return () => document.removeEventListener("visibilitychange", listener);
  },
};

const CLOSED = 2;
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
/** Milliseconds unseen before the connection is left to other tabs. */
const UNSEEN = 20_000;

export class Stream {
  #source: Source | null = null;
  #state: Connection = "connecting";
  #retry: ReturnType<typeof setTimeout> | null = null;
  #pause = FIRST_PAUSE;
  #since = Date.now();
  #rest: ReturnType<typeof setTimeout> | null = null;
  #unwatch: (() => void) | null = null;
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Set<(arrived: Arrived) => void>();
  readonly #anew = new Set<() => void>();
  readonly #lost = new Set<() => void>();

  constructor(
    private readonly address: string,
    private readonly kinds: readonly string[],
    private readonly open: Opener = (at) => new EventSource(at),
    private readonly sight: Sight = TAB,
  ) {}

  start(): void {
    this.#unwatch = this.sight.watch(() => this.#seen());
    if (!this.sight.isHidden()) this.#connect(false);
  }

  stop(): void {
    this.#unwatch?.();
    this.#unwatch = null;
    if (this.#rest) clearTimeout(this.#rest);
    this.#rest = null;
    this.#letGo();
  }

  get state(): Connection {
    return this.#state;
  }

  /** When the present state began. */
  get since(): number {
    return this.#since;
  }

  /** For `useSyncExternalStore`. */
  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  listen(listener: (arrived: Arrived) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called whenever something may have been missed, so that everything is to be asked for again. */
  whenAnew(listener: () => void): () => void {
    this.#anew.add(listener);
    return () => this.#anew.delete(listener);
  }

  /** Called when the server refused the stream: perhaps nobody is signed in any more. */
  whenLost(listener: () => void): () => void {
    this.#lost.add(listener);
    return () => this.#lost.delete(listener);
  }

  #seen(): void {
    if (this.#rest) clearTimeout(this.#rest);
    this.#rest = null;
    if (this.sight.isHidden()) {
      this.#rest = setTimeout(() => {
        this.#letGo();
        this.#become("connecting");
      }, UNSEEN);
    } else if (!this.#source) this.#connect(false);
  }

  #letGo(): void {
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = null;
    this.#source?.close();
    this.#source = null;
  }

  #connect(isAnew: boolean): void {
    const source = this.open(this.address);
    this.#source = source;
    let wasOpen = false;
    let canResume = false;
    source.onopen = () => {
      this.#pause = FIRST_PAUSE;
      this.#become("live");
      // Resumed by the browser after the last event it had: nothing is missing. Without such an
      // event it begins with what comes now; and the very first time, pages may have been loaded
      // before we listened.
      if (!wasOpen || !canResume) for (const listener of this.#anew) listener();
      wasOpen = true;
    };
    source.onerror = () => {
      this.#become("behind");
      if (source.readyState !== CLOSED) return;
      for (const listener of this.#lost) listener();
      this.#later();
    };
    for (const kind of this.kinds) {
      source.addEventListener(kind, (event) => {
        canResume ||= event.lastEventId !== "";
        const arrived = { kind, data: JSON.parse(event.data) as unknown };
        for (const listener of this.#listeners) listener(arrived);
      });
    }
    if (isAnew) this.#become("behind");
  }

  #later(): void {
    this.#source?.close();
    this.#retry = setTimeout(() => this.#connect(true), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  #become(state: Connection): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#since = Date.now();
    for (const watcher of this.#watchers) watcher();
  }
}
