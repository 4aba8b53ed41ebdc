// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, it } from "vitest";
import type { Arguments } from "~/features/backtests/types";
import { ArgumentsForm, read, stateOf } from "./arguments-form";

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
    expect(screen.getByRole("alert")).toHaveTextContent("Arguments need names");
    expect(text).toBeInvalid();
  });
});
