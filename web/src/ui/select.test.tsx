// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { Select } from "./select";

const LONG = "A model that follows the trend of the last twenty days";

it("shows the whole text of what is chosen, also when the options come later", () => {
  const { rerender } = render(<Select aria-label="Model" defaultValue="one" />);
  rerender(
    <Select aria-label="Model">
      <option value="one">{LONG}</option>
      <option value="two">Second</option>
    </Select>,
  );
  const list = screen.getByLabelText("Model");
  expect(list.parentElement?.firstElementChild?.textContent).toBe(LONG);
  fireEvent.change(list, { target: { value: "two" } });
  expect(list.parentElement?.firstElementChild?.textContent).toBe("Second");
});
