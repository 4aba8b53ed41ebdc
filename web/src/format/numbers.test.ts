import { describe, expect, it } from "vitest";
import {
  amount,
  bytes,
  compact,
  cores,
  days,
  direction,
  gain,
  hundredths,
  integer,
  memory,
  money,
  percent,
  plural,
  price,
  quantity,
  ratio,
  signedAmount,
} from "./numbers";
import examples from "./numbers.examples.json";

describe("figures", () => {
  it("have their sign, with a real minus", () => {
    expect(gain(1234.5, "USD")).toBe("+1,234.50\u00a0USD");
    expect(gain(-0.5, "USD")).toBe("\u22120.50\u00a0USD");
    expect(gain(0, "USD")).toBe("0.00\u00a0USD");
  });
  it("that round to nothing are neither won nor lost", () => {
    expect(gain(-0.001, "USD")).toBe("0.00\u00a0USD");
    expect(direction(-0.001, "USD")).toBe("flat");
    expect(direction(3, "USD")).toBe("up");
    expect(direction(-3, "USD")).toBe("down");
  });
  it("in coins keep the digits that matter", () => {
    expect(gain(0.00012345, "BTC")).toBe("+0.00012345\u00a0BTC");
    expect(money(123.456, "BTC")).toBe("123.46\u00a0BTC");
  });
  it("that are missing are a dash", () => {
    for (const text of [
      integer(null),
      quantity(undefined),
      price(Number.NaN),
      money(null, "USD"),
      gain(null, null),
      percent(null),
      bytes(null),
      cores(null),
    ]) {
      expect(text).toBe("–");
    }
  });
  it("have as many digits as their size asks for", () => {
    expect(quantity(0.0264851)).toBe("0.0264851");
    expect(quantity(12.34567)).toBe("12.3457");
    expect(quantity(1234567.891)).toBe("1,234,567.89");
    expect(price(75514.8)).toBe("75,514.80");
    expect(price(0.000012)).toBe("0.000012");
  });
  it("of machines have units", () => {
    expect(bytes(11_000_000)).toBe("11 MB");
    expect(bytes(1_500)).toBe("1.5 kB");
    expect(memory(256)).toBe("256 MB");
    expect(memory(2048)).toBe("2 GB");
    expect(cores(0.25)).toBe("0.25 cores");
    expect(compact(1_250_000)).toBe("1.3M");
    expect(percent(0.1234)).toBe("12.34 %");
    expect(plural(1, "model")).toBe("1 model");
    expect(plural(2_000, "model")).toBe("2,000 models");
  });
});

describe("numbers with little room", () => {
  it("are not written as nothing", () => {
    expect([0, 0.00003412, -0.8, 0.126, 12.34, 950].map((one) => compact(one))).toEqual([
      "0",
      "0.000034",
      "\u22120.8",
      "0.13",
      "12.3",
      "950",
    ]);
  });
  it.each([
    [[-0.8, -0.75, 0], 0.05, ["\u22120.8", "\u22120.75", "0"]],
    [[0.00002, 0.00004], 0.00002, ["0.00002", "0.00004"]],
    [[1_200, 1_250, 1_300], 50, ["1.2K", "1.25K", "1.3K"]],
    [[-2_000, 500, 1_500], 500, ["\u22122K", "500", "1.5K"]],
    [[1_000_000, 1_000_100], 100, ["1M", "1.0001M"]],
    [[0.2, 0.3], 0.3 - 0.2, ["0.2", "0.3"]],
  ])("are told apart: %j every %s", (values, step, texts) => {
    expect(values.map((one) => compact(one, step))).toEqual(texts);
  });
});

describe("numbers on every page", () => {
  const writers = {
    quantity,
    price,
    money,
    gain,
    amount,
    signedAmount,
    hundredths,
    ratio,
    percent,
    days,
  };
  it.each(examples)("are written the same: %s %s %s", (kind, value, currency, text) => {
    const write = writers[kind as keyof typeof writers];
    expect(write(value as number, currency as string | null)).toBe(text);
  });
});
