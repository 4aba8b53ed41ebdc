// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { DayCalendar } from "./day-calendar";
import type { Group } from "./queries";

vi.mock("~/ui/address", () => ({ useView: () => [{}, () => {}] }));

function cell(profit: number, currency: string): string | null {
  const day = { key: "2024-03-05", round_trips: 1, profit } as Group;
  const { unmount } = render(<DayCalendar days={[day]} currency={currency} />);
  const found = screen.getByTitle(/round trip/).textContent;
  unmount();
  return found?.replace(/:.*/, "").slice(1) ?? null;
}

it("writes no result but zero as a zero", () => {
  expect(cell(0.000034, "BTC")).toBe("+0.000034");
  expect(cell(-0.03, "USD")).toBe("−0.03");
  expect(cell(-0.001, "USD")).toBe("0");
  expect(cell(0, "BTC")).toBe("0");
  expect(cell(123.4, "USD")).toBe("+123");
  expect(cell(-2_345, "USD")).toBe("−2.3K");
});
