import { describe, expect, it } from "vitest";
import { monthsOf, sumOf, weeksOf } from "./calendar";
import type { Group } from "./queries";

const day = (key: string, profit: number | null) =>
  ({ key, profit, round_trips: 2, fees: 0, win_rate: null, average_seconds: 1 }) satisfies Group;
const days = [day("2024-01-31", 5), day("2024-02-01", -2), day("2024-02-29", 3)];

describe("the calendar of trades", () => {
  it("has the months with a round trip, the newest last", () => {
    expect(monthsOf(days)).toEqual(["2024-01", "2024-02"]);
  });
  it("begins weeks on Monday and knows leap years", () => {
    const weeks = weeksOf("2024-02", days);
    expect(weeks).toHaveLength(5);
    expect(weeks[0]?.map(({ number }) => number)).toEqual([null, null, null, 1, 2, 3, 4]);
    expect(weeks[4]?.map(({ number }) => number)).toEqual([26, 27, 28, 29, null, null, null]);
    expect(weeks[4]?.[3]?.group?.profit).toBe(3);
  });
  it("adds up a month, unless a result is not known", () => {
    expect(sumOf("2024-02", days)).toEqual({ trips: 4, profit: 1 });
    expect(sumOf("2024-02", [...days, day("2024-02-03", null)]).profit).toBeNull();
  });
});
