// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { type Choice, Finder, Palette } from "./palette";

function choices(run: () => void = vi.fn<() => void>()): Choice[] {
  return ["Models", "Keys", "Members"].map((label) => ({
    id: label,
    label,
    group: "Page",
    icon: "grid" as const,
    run: label === "Members" ? run : () => {},
  }));
}

describe("the palette", () => {
  it("opens by Ctrl-K", async () => {
    const change = vi.fn();
    render(<Palette open={false} onOpenChange={change} choices={[]} />);
    await userEvent.keyboard("{Control>}k{/Control}");
    expect(change).toHaveBeenCalledWith(true);
  });
  it("goes where the arrows and Enter say, without the mouse", async () => {
    const run = vi.fn<() => void>();
    const close = vi.fn<() => void>();
    render(<Finder choices={choices(run)} close={close} />);
    await userEvent.type(screen.getByRole("combobox"), "me{ArrowDown}{ArrowUp}{Enter}");
    expect(run).toHaveBeenCalledOnce();
    expect(close).toHaveBeenCalledOnce();
  });
  it("tells screen readers which one is chosen", async () => {
    render(<Finder choices={choices()} close={vi.fn()} />);
    const box = screen.getByRole("combobox");
    await userEvent.type(box, "{ArrowDown}");
    const chosen = screen.getByRole("option", { selected: true });
    expect(chosen).toHaveTextContent("Keys");
    expect(box).toHaveAttribute("aria-activedescendant", chosen.id);
  });
  it("says when nothing is called that", async () => {
    render(<Finder choices={choices()} close={vi.fn()} />);
    await userEvent.type(screen.getByRole("combobox"), "zzz{Enter}");
    expect(screen.getByText("No matches.")).toBeVisible();
  });
});
