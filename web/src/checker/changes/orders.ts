/**
 * Reports about orders that came long after the fact. `tapeline verify` compares the fills before
 * and after each report; here every report is listed that can have changed one, so the list has all
 * of its changes, and now and then a report that changed nothing.
 */
import { quoted } from "../lines/quoting";
import { LATE_AFTER } from "./newest";
import {
  COUNTING,
  claimed,
  exactNumber,
  FEES,
  FILLED_SIZE,
  isPlainWord,
  PRICES,
  spoken,
  type Texts,
  TIMES,
  wordIn,
} from "./values";

export interface Told {
  isPost: boolean;
  /** A limit or stop order counts as filled until somebody says otherwise. */
  isAssumed: boolean;
  time: number;
  receivedAt: number;
  texts: Texts;
}

/** What a report said so late, in words: the time since the fact, and its fields. */
export interface LateWords {
  isFirst: boolean;
  /** Negative if it is dated into the future. */
  seconds: number;
  fields: string[];
}

const TAKEN_OUT = new Set(["canceled", "cancelled", "rejected", "expired"]);
const FILLED = new Set(["filled", "executed", "done", "closed"]);
const OF_RISES = new Set([FILLED_SIZE, "status", ...PRICES, ...TIMES, ...FEES]);
const OF_CONFIRMATIONS = new Set(["status", ...PRICES, ...FEES]);

/** One order as it is known so far. */
export class Order {
  private earliest = Infinity;
  private latest = -Infinity;
  private newest = -Infinity;
  private isPosted = false;
  /** One post, and then only words about its fills, each later than the one before. */
  private isPlain = true;
  private isPaid = false;
  private isAssumed = false;
  private isExecuted = false;
  private filled = 0;
  /** Of all that is filled; null if a portion has no price that is known. */
  private average: number | null = 0;
  private readonly said: { name: string; text: string; time: number; isMixed: boolean }[] = [];

  /** Null if it came in time, or changed nothing. */
  take(one: Told): LateWords | null {
    const counting = [...one.texts.keys()].filter((name) => COUNTING.has(name));
    const times = [one.time, one.receivedAt, ...claimed(one.texts)];
    const isFirst = this.said.length === 0;
    this.earliest = Math.min(this.earliest, ...times);
    this.latest = Math.max(this.latest, ...times);
    const seconds = one.receivedAt - this.earliest;
    const ahead = this.latest - one.receivedAt;
    const isLate = seconds > LATE_AFTER && !this.isHarmless(one, counting);
    const found = counting.length && (isLate || ahead > LATE_AFTER);
    const fields = found ? counting.flatMap((name) => this.changed(name, one)) : [];
    this.merge(one, counting);
    if (!found) return null;
    return { isFirst: isFirst && one.isPost, seconds: isLate ? seconds : -ahead, fields };
  }

  private isHarmless(one: Told, counting: string[]): boolean {
    if (one.time < this.newest) return false; // it may change what later reports mean
    if (one.isPost && !this.isPosted) return false;
    if (counting.every((name) => this.isKnown(name, one.texts.get(name)))) return true;
    if (!this.isPlain || !isOfFills(one, counting)) return false;
    return this.isConfirmation(one, counting) || this.isRise(one);
  }

  /** The first word that a limit or stop order was filled, at its limit. */
  private isConfirmation({ texts }: Told, counting: string[]): boolean {
    if (!this.isAssumed || this.isExecuted || this.isPaid) return false;
    const limit = exactNumber(this.textOf("price"));
    const prices = counting.filter((name) => PRICES.includes(name));
    const status = wordIn(texts.get("status"));
    return (
      counting.every((name) => OF_CONFIRMATIONS.has(name)) &&
      limit !== null &&
      prices.every((name) => exactNumber(texts.get(name)) === limit) &&
      counting.every((name) => !FEES.includes(name) || (exactNumber(texts.get(name)) ?? -1) >= 0) &&
      (prices.length > 0 || FILLED.has(status))
    );
  }

  /** One more portion, which says nothing of those before it. */
  private isRise(one: Told): boolean {
    const filled = exactNumber(one.texts.get(FILLED_SIZE));
    const isOwn = this.filled > 0 || (this.isAssumed && !this.isExecuted);
    if (filled === null || filled <= this.filled || !isOwn) return false;
    const times = [one.time, ...claimed(one.texts)];
    if (times.some((at) => Math.abs(one.receivedAt - at) > LATE_AFTER)) return false;
    const average = exactNumber(one.texts.get("filled_avg_price"));
    if (average === null || this.filled === 0) return true;
    if (this.average === null) return false;
    // Where no price fits the new portion, all portions get the average.
    const price = average * filled - this.average * this.filled;
    return price > 1e-9 * average * filled;
  }

  private changed(name: string, one: Told): string[] {
    const [before, after] = [this.textOf(name), one.texts.get(name) ?? ""];
    if (before === after) return [];
    return [
      before === undefined
        ? `${quoted(name)} ${spoken(after)}`
        : `${quoted(name)} from ${spoken(before)} to ${spoken(after)}`,
    ];
  }

  private merge(one: Told, counting: string[]): void {
    const isFirst = this.said.length === 0;
    this.isPlain &&= isFirst ? isBare(one, counting) : isOfFills(one, counting);
    this.isPlain &&= one.time >= this.newest;
    this.isPaid ||= counting.some((name) => FEES.includes(name));
    this.newest = Math.max(this.newest, one.time);
    this.isPosted ||= one.isPost;
    this.isAssumed ||= one.isPost && one.isAssumed;
    this.fill(one);
    this.isExecuted ||= counting.some((name) => PRICES.includes(name) || TIMES.includes(name));
    this.isExecuted ||= FILLED.has(wordIn(one.texts.get("status")));
    for (const name of counting) {
      const text = one.texts.get(name) ?? "";
      const known = this.said.find((it) => it.name === name);
      if (known === undefined) this.said.push({ name, text, time: one.time, isMixed: false });
      else {
        known.isMixed ||= known.text !== text;
        if (one.time >= known.time) [known.text, known.time] = [text, one.time];
      }
    }
  }

  private fill({ texts }: Told): void {
    if (!texts.has(FILLED_SIZE)) {
      if (PRICES.some((name) => texts.has(name))) this.average = null;
      return;
    }
    const filled = exactNumber(texts.get(FILLED_SIZE));
    const average = exactNumber(texts.get("filled_avg_price"));
    const isOwn = ["executionPrice", "executed_price"].some((name) => texts.has(name));
    this.average = isOwn ? null : average;
    this.filled = filled ?? this.filled;
    this.isExecuted = true;
  }

  /** Whether this was said before, and never anything else. Of portions, what is said last counts. */
  private isKnown(name: string, text: string | undefined): boolean {
    const known = this.said.find((it) => it.name === name);
    const isOfPortions = this.textOf(FILLED_SIZE) !== undefined && OF_RISES.has(name);
    const words = [PRICES, TIMES, FEES].find((some) => some.includes(name)) ?? [];
    const isSaidOtherwise = words.some((it) => it !== name && this.textOf(it) !== undefined);
    const isSame = known !== undefined && known.text === text && !known.isMixed;
    return isSame && !isOfPortions && !isSaidOtherwise;
  }

  private textOf(name: string): string | undefined {
    return this.said.find((it) => it.name === name)?.text;
  }
}

/** A post that says nothing of its fills. */
function isBare({ isPost, texts }: Told, counting: string[]): boolean {
  const isSilent = counting.every((name) => name === "status" || !OF_RISES.has(name));
  return isPost && isSilent && isStanding(texts);
}

/** An update that says nothing else. */
function isOfFills({ isPost, texts }: Told, counting: string[]): boolean {
  const isOnly = counting.every((name) => OF_RISES.has(name));
  return !isPost && isOnly && isStanding(texts);
}

function isStanding(texts: Texts): boolean {
  const status = texts.get("status");
  return isPlainWord(status) && !TAKEN_OUT.has(wordIn(status));
}
