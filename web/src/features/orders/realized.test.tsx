// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Order } from "~/api/types";
import { Realized } from "./realized";

function shown(fill: Partial<NonNullable<Order["fill"]>> | null): string {
  const { unmount } = render(<Realized fill={fill as Order["fill"]} />);
  const text = screen.getByRole("cell").textContent ?? "";
  unmount();
  return text;
}

it("writes a zero as a zero, and a dash where nothing was computed", () => {
  expect(shown({ realized: 0, currency: "USD", not_computed: null })).toBe("0.00\u00a0USD");
  expect(shown({ realized: -0.001, currency: "USD", not_computed: null })).toBe("0.00\u00a0USD");
  expect(shown({ realized: -1, currency: "USD", not_computed: null })).toBe("\u22121.00\u00a0USD");
  expect(shown({ realized: 0, currency: "USD", not_computed: "mixed" })).toBe("–");
  expect(shown(null)).toBe("–");
});
