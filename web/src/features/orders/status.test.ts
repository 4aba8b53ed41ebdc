import { expect, it } from "vitest";
import type { Order } from "~/api/types";
import { statusWords } from "./status";

it("is said in words, or assumed", () => {
  const fill = { assumed: true } as Order["fill"];
  expect(statusWords({ status: "partially_filled", fill })).toBe("partially filled");
  expect(statusWords({ status: null, fill })).toBe("assumed");
  expect(statusWords({ status: null, fill: null })).toBe("");
});
