// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, it } from "vitest";
import { ArgumentsForm, read, stateOf } from "./arguments-form";
import { Luck } from "./luck";
import { Figure } from "./metric-cards";
import type { Arguments, Trials } from "./shapes";

function Form({ values, told }: { values: Arguments | null; told: (json: string) => void }) {
  const [state, setState] = useState(() => stateOf(values));
  return (
    <>
      <ArgumentsForm state={state} onChange={setState} error={null} />
      <button type="button" onClick={() => told(JSON.stringify(read(state)))}>
        Tell
      </button>
    </>
  );
}

describe("arguments", () => {
  it("are the same in the form and as JSON, whichever was typed into", async () => {
    let said = "";
    render(<Form values={{ days: 30, deep: false }} told={(json) => (said = json)} />);
    await userEvent.clear(screen.getByLabelText("days"));
    await userEvent.type(screen.getByLabelText("days"), "40");
    await userEvent.selectOptions(screen.getByLabelText("deep"), "true");
    await userEvent.click(screen.getByRole("button", { name: "JSON" }));
    expect(screen.getByLabelText("Arguments as JSON")).toHaveValue(
      '{\n  "days": 40,\n  "deep": true\n}',
    );
    await userEvent.click(screen.getByRole("button", { name: "Form" }));
    expect(screen.getByLabelText("days")).toHaveValue("40");
    await userEvent.click(screen.getByRole("button", { name: "Tell" }));
    expect(JSON.parse(said)).toEqual({ days: 40, deep: true });
  });

  it("that are no JSON keep one where one is, with the reason", async () => {
    render(<Form values={null} told={() => undefined} />);
    const text = screen.getByLabelText("Arguments as JSON");
    await userEvent.clear(text);
    await userEvent.type(text, "[[1]");
    await userEvent.click(screen.getByRole("button", { name: "Form" }));
    expect(screen.getByRole("alert")).toHaveTextContent("Arguments have names");
    expect(text).toBeInvalid();
  });
});

describe("a figure", () => {
  it("that is not there tells why", () => {
    const measure = { value: null, display_name: "A", type: "number", reason: "Too short." };
    render(<Figure name="sharpe" measure={measure} currency={null} />);
    expect(screen.getByTitle("Too short.")).toHaveTextContent("–");
  });

  it("that was won says so by its sign", () => {
    const measure = { value: 0.5, display_name: "A", type: "percent" };
    render(<Figure name="total_return" measure={measure} currency={null} />);
    expect(screen.getByText("+50.00 %")).toHaveClass("text-up");
  });
});

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
    render(<Luck trials={trials} />);
    expect(screen.getByText("2.00")).toBeInTheDocument();
    expect(screen.getByText(/best of 40 trials/)).toBeInTheDocument();
    expect(screen.getByText("70.00 %")).toBeInTheDocument();
  });

  it("says why it cannot be judged", () => {
    render(
      <Luck trials={{ ...trials, sharpe: null, deflated_sharpe: null, reason: "No ratio." }} />,
    );
    expect(screen.getByText("No ratio.")).toBeInTheDocument();
  });
});
