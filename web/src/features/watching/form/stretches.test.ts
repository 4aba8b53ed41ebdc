import { describe, expect, it } from "vitest";
import { bands } from "./stretches";

describe("the bands of a preview", () => {
  it("are pending first, then firing, and end with the range", () => {
    const stretches = [
      { began_at: 5, fired_at: 15, resolved_at: 20, value: null, subject: "m" },
      { began_at: 30, fired_at: null, resolved_at: 32, value: null, subject: "m" },
      { began_at: 40, fired_at: 40, resolved_at: null, value: 1, subject: "m" },
    ];
    expect(bands(stretches, 10, 50)).toEqual([
      { from: 10, to: 15, isFiring: false, subject: "m" },
      { from: 15, to: 20, isFiring: true, subject: "m" },
      { from: 30, to: 32, isFiring: false, subject: "m" },
      { from: 40, to: 50, isFiring: true, subject: "m" },
    ]);
  });
});
