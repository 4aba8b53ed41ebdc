/**
 * A live connection over server-sent events. The browser resumes it after the last event it saw. When
 * the browser gives up, we open a new one and report that events may have been missed. A background
 * tab closes its connection after a while: a browser has six connections per server for all tabs.
 *
 * After an event `end` the stream stays ended: the server has withdrawn the right to read it.
 */
export type Connection = "connecting" | "live" | "behind" | "ended";

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
/** Milliseconds in the background before a tab closes its connection. */
const UNSEEN = 20_000;

export class Stream {
  #source: Source | null = null;
  #state: Connection = "connecting";
  #retry: ReturnType<typeof setTimeout> | null = null;
  #pause = FIRST_PAUSE;
  #since = Date.now();
  #reason = "";
  #rest: ReturnType<typeof setTimeout> | null = null;
  #unwatch: (() => void) | null = null;
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Set<(arrived: Arrived) => void>();
  readonly #missed = new Set<() => void>();
  readonly #lost = new Set<(isOver: boolean) => void>();

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

  /** When the current state began. */
  get since(): number {
    return this.#since;
  }

  /** Why the stream ended, as the server put it. */
  get reason(): string {
    return this.#reason;
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

  /** Called whenever events may have been missed, so that everything must be fetched again. */
  whenMissed(listener: () => void): () => void {
    this.#missed.add(listener);
    return () => this.#missed.delete(listener);
  }

  /** Called when the server refused or ended the stream: the session may be over. */
  whenLost(listener: (isOver: boolean) => void): () => void {
    this.#lost.add(listener);
    return () => this.#lost.delete(listener);
  }

  #seen(): void {
    if (this.#state === "ended") return;
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

  #connect(isRetry: boolean): void {
    const source = this.open(this.address);
    this.#source = source;
    let wasOpen = false;
    let canResume = false;
    source.onopen = () => {
      this.#pause = FIRST_PAUSE;
      this.#become("live");
      // After an event, the browser resumes where it was and nothing is missing. Without one, the
      // stream starts with new events; and on the first connection, pages may have been loaded
      // before we listened.
      if (!wasOpen || !canResume) for (const listener of this.#missed) listener();
      wasOpen = true;
    };
    source.onerror = () => {
      if (this.#source !== source) return;
      this.#become("behind");
      if (source.readyState !== CLOSED) return;
      for (const listener of this.#lost) listener(false);
      this.#later();
    };
    source.addEventListener("end", (event) => this.#end(event.data));
    for (const kind of this.kinds) {
      source.addEventListener(kind, (event) => {
        canResume ||= event.lastEventId !== "";
        const arrived = { kind, data: JSON.parse(event.data) as unknown };
        for (const listener of this.#listeners) listener(arrived);
      });
    }
    if (isRetry) this.#become("behind");
  }

  #end(data: string): void {
    this.#letGo(); // or the browser would reconnect and be refused again
    this.#reason = String((JSON.parse(data) as { error?: unknown }).error ?? "");
    this.#become("ended");
    for (const listener of this.#lost) listener(true);
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
