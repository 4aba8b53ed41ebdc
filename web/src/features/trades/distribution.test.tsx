// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { Distribution } from "./distribution";

function ranges(width: number, first: number, count: number): (string | null)[] {
  const bins = Array.from({ length: count }, (_, at) => ({
    low: (first + at) * width,
    high: (first + at + 1) * width,
    round_trips: 1,
  }));
  const { unmount } = render(<Distribution bins={bins} currency="BTC" />);
  const texts = screen.getAllByRole("rowheader").map((one) => one.textContent);
  unmount();
  return texts;
}

it("writes no two ranges of results alike", () => {
  expect(ranges(0.00002, 0, 2)).toEqual(["0 to 0.00002", "0.00002 to 0.00004"]);
  expect(ranges(0.05, -16, 2)).toEqual(["−0.8 to −0.75", "−0.75 to −0.7"]);
  expect(ranges(20, 61, 2)).toEqual(["1.22K to 1.24K", "1.24K to 1.26K"]);
  expect(ranges(50, -1, 2)).toEqual(["−50 to 0", "0 to 50"]);
});
