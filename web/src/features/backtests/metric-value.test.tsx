// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { MetricValue } from "./metric-value";

describe("a figure", () => {
  it("that is not there tells why", () => {
    const measure = { value: null, display_name: "A", type: "number", reason: "Too short." };
    render(<MetricValue name="sharpe" measure={measure} currency={null} />);
    expect(screen.getByTitle("Too short.")).toHaveTextContent("–");
  });

  it("that was won says so by its sign", () => {
    const measure = { value: 0.5, display_name: "A", type: "percent" };
    render(<MetricValue name="total_return" measure={measure} currency={null} />);
    expect(screen.getByText("+50.00 %")).toHaveClass("text-up");
  });
});
