/** Lists what a record says after the fact: late orders, changed ones, back-dated prices and cash. */
import type { Event } from "../lines/lines";
import { quoted } from "../lines/quoting";
import { asText, textOf } from "../lines/scanner";
import { LATE_AFTER, Newest } from "./newest";
import { type LateWords, Order, type Told } from "./orders";
import { OwnFigures } from "./own-figures";
import { length } from "./time-words";
import { COUNTING, spoken, type Texts } from "./values";

const ORDERS = new Set(["spot-market", "spot-limit", "spot-stop"]);
const ENTRIES = new Map([
  ["mark-price", "Price"],
  ["cash", "Cash"],
  ["position", "Position"],
]);
const decoder = new TextDecoder();

type Packed = [boolean, boolean, number, number, [string, string][]];

export class Afterwards {
  /** Most are one post in time, which is kept packed: a record may have a million. */
  private readonly orders = new Map<string, Order | string>();
  private readonly cash = new Set<string>();
  private readonly own = new OwnFigures();
  private settings = new Map([["positions", '"signed"']]);
  private begun: number | null = null;
  /** Since the last signature: anyone could have added them. */
  private waiting = new Newest();

  constructor(private readonly found: Newest) {}

  take(event: Event): void {
    const { kind } = event;
    if (kind === "log") return; // as most are
    if (ORDERS.has(kind) || kind === "update-trade") this.takeOrder(event);
    else if (ENTRIES.has(kind)) this.takeEntry(event, ENTRIES.get(kind) ?? "");
    else if (kind === "account-settings") this.takeSettings(event);
    else if (kind === "set-pnl" || kind === "auto-pnl") this.takeOwn(event);
  }

  /** A signature covers all events so far. */
  signed(): void {
    if (this.waiting.count) this.found.absorb(this.waiting);
  }

  private takeOrder(event: Event): void {
    const texts = textsOf(event);
    const isPost = event.kind !== "update-trade";
    if (isPost) this.begun ??= event.receivedAt;
    const id = spelled(texts.get("id"));
    // Without an id it is an order of its own, which still shows when it came late.
    const known = id === undefined ? undefined : this.orders.get(id);
    const { time, receivedAt } = event;
    const told = {
      isPost,
      isAssumed: isPost && event.kind !== "spot-market",
      time,
      receivedAt,
      texts,
    };
    const order = typeof known === "string" ? unpacked(known) : (known ?? new Order());
    const words = order.take(told);
    if (id !== undefined) this.orders.set(id, known === undefined ? packed(told) : order);
    if (words !== null) this.add(event, named("Order", id), inWords(words));
  }

  private takeEntry(event: Event, noun: string): void {
    const texts = textsOf(event);
    if (event.kind !== "mark-price") this.begun ??= event.receivedAt;
    const seconds = event.receivedAt - event.time;
    const id = event.kind === "cash" ? spelled(texts.get("id")) : undefined;
    const isAgain = id !== undefined && this.cash.has(id);
    if (id !== undefined) this.cash.add(id);
    const about = named(noun, id ?? texts.get("symbol"));
    if (isAgain) this.add(event, about, "sent again, in the place of what was there");
    else if (Math.abs(seconds) > LATE_AFTER) {
      this.add(event, about, inWords({ isFirst: true, seconds, fields: [] }));
    }
  }

  private takeSettings(event: Event): void {
    const fields: string[] = [];
    for (const [name, text] of textsOf(event)) {
      const before = this.settings.get(name);
      this.settings.set(name, text);
      if (before === text || (before === undefined && text === "null")) continue;
      const from = before === undefined ? "" : `from ${spoken(before)} `;
      fields.push(`${quoted(name)} ${from}to ${spoken(text)}`);
    }
    const seconds = this.begun === null ? 0 : event.receivedAt - this.begun;
    if (seconds > LATE_AFTER && fields.length) {
      this.add(event, "Account", `${fields.join(", ")}, ${length(seconds)} after the first report`);
    }
  }

  private takeOwn(event: Event): void {
    if (event.body === null) return;
    const body = JSON.parse(decoder.decode(event.body)) as Record<string, unknown>;
    const said = this.own.take(event.kind, { receivedAt: event.receivedAt, body }, this.begun);
    if (said.length) this.add(event, "The model’s own figures", said.join(", "));
  }

  private add({ seq, receivedAt }: Event, about: string, said: string): void {
    this.waiting.add({ seq, receivedAt, about, said });
  }
}

function inWords({ isFirst, seconds, fields }: LateWords): string {
  const when = seconds < 0 ? `dated ${length(-seconds)} into the future` : "";
  if (isFirst) return when || `reported ${length(seconds)} after its time`;
  const said = fields.join(", ") || "said again";
  return `${said}, ${when || `${length(seconds)} after the fact`}`;
}

/** One text for one id, however its characters are escaped. */
function spelled(text: string | undefined): string | undefined {
  return text === undefined ? undefined : JSON.stringify(String(JSON.parse(text)));
}

function packed({ isPost, isAssumed, time, receivedAt, texts }: Told): string {
  const counting = [...texts].filter(([name]) => COUNTING.has(name));
  return JSON.stringify([isPost, isAssumed, time, receivedAt, counting]);
}

function unpacked(text: string): Order {
  const [isPost, isAssumed, time, receivedAt, counting] = JSON.parse(text) as Packed;
  const order = new Order();
  order.take({ isPost, isAssumed, time, receivedAt, texts: new Map(counting) });
  return order;
}

function named(noun: string, text: string | undefined): string {
  if (text === undefined) return noun;
  const name: unknown = JSON.parse(text);
  return typeof name === "string" && name ? `${noun} ${quoted(name)}` : noun;
}

/** The shown fields, by name. */
function textsOf(event: Event): Texts {
  if (event.body === null) {
    return new Map(event.fields.map(({ name, value }) => [textOf(name), asText(value)]));
  }
  const body = JSON.parse(decoder.decode(event.body)) as Record<string, unknown>;
  return new Map(Object.entries(body).map(([name, value]) => [name, JSON.stringify(value)]));
}
