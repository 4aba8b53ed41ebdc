// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Pnl } from "~/api/types";
import { Doubts } from "./doubts";

const nothing = { not_computed: [], checks: [] } as unknown as Pnl;

it("names each symbol that the figures leave out, with the reason, and each disagreement", () => {
  const pnl: Pnl = {
    ...nothing,
    not_computed: [{ symbol: "XBT-USD", currency: "USD", reason: "It is inverse.", fills: 1 }],
    checks: [
      { symbol: "A-USD", time: 1, reported: 5, held: 2, difference: 3, average_price: null },
    ],
  };
  render(<Doubts pnl={pnl} />);
  const [first, second] = screen.getAllByRole("listitem");
  expect(first).toHaveTextContent("XBT-USD is not computed and counts in no figure here.");
  expect(first).toHaveTextContent("It is inverse.");
  expect(second).toHaveTextContent("A-USD: the model says that it holds 5, the books hold 2");
});

it("is absent where there is no doubt", () => {
  const { container } = render(<Doubts pnl={nothing} />);
  expect(container).toBeEmptyDOMElement();
});
