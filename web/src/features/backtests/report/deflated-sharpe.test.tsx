// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Trials } from "~/features/backtests/types";
import { DeflatedSharpe } from "./deflated-sharpe";

describe("luck", () => {
  const trials: Trials = {
    count: 40,
    sharpe: 2,
    expected_best: 1.5,
    deflated_sharpe: 0.7,
    explanation: "How likely.",
    reason: null,
  };

  it("stands beside the raw ratio", () => {
    render(<DeflatedSharpe trials={trials} />);
    expect(screen.getByText("2.00")).toBeInTheDocument();
    expect(screen.getByText(/best of 40 trials/)).toBeInTheDocument();
    expect(screen.getByText("70.00 %")).toBeInTheDocument();
  });

  it("says why it cannot be judged", () => {
    render(
      <DeflatedSharpe
        trials={{ ...trials, sharpe: null, deflated_sharpe: null, reason: "No ratio." }}
      />,
    );
    expect(screen.getByText("No ratio.")).toBeInTheDocument();
  });
});
