import { describe, expect, it } from "vitest";
import { excursionOf } from "./excursion";

describe("how far a round trip was ahead and behind", () => {
  it("is measured from its entry, for a short in the other direction", () => {
    const long = { side: "long" as const, entry_price: 100, best_price: 120, worst_price: 90 };
    expect(excursionOf(long).best).toBeCloseTo(0.2);
    expect(excursionOf(long).worst).toBeCloseTo(-0.1);
    const short = { side: "short" as const, entry_price: 100, best_price: 80, worst_price: 110 };
    expect(excursionOf(short).best).toBeCloseTo(0.2);
    expect(excursionOf(short).worst).toBeCloseTo(-0.1);
  });
  it("is not known without a price", () => {
    const lacking = { side: "long" as const, entry_price: null, best_price: 1, worst_price: null };
    expect(excursionOf(lacking)).toEqual({ best: null, worst: null });
  });
});
