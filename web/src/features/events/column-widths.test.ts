import { expect, it } from "vitest";
import { placed } from "./column-widths";

it("gives a column as much as it holds, and a row where there is room for all", () => {
  const few = placed(
    [
      ["AAPL", "MSFT"],
      ["1.51", "−1.91"],
    ],
    ["Symbol", "momentum"],
  );
  expect(few).toEqual({ from: "36rem", widths: [6, 8] });
  const numbers = Array.from({ length: 6 }, () => ["1,975,308,642.25"]);
  const many = placed([["BTC-USD"], ...numbers], ["Symbol", ..."abcdef"]);
  expect(many).toEqual({ from: "60rem", widths: [7, 16, 16, 16, 16, 16, 16] });
});

it("shares a long text with the others", () => {
  expect(placed([["A"], ["word ".repeat(40)]], ["Symbol", "note"]).widths).toEqual([6, 24]);
});
