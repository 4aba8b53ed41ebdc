// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { Problem } from "~/api/problem";
import { sparkPath } from "~/charts/sparkline";
import { Linked } from "~/features/model/linked-text";
import { Confirm } from "./dialogs/dialog";
import { about, TextField } from "./field";
import { Gain } from "./figures";
import { Time } from "./time";
import { notify, Toasts } from "./toasts";

describe("a confirmation", () => {
  it("stays open and says why when it did not work", async () => {
    const change = vi.fn();
    const act = vi
      .fn()
      .mockRejectedValueOnce(new Problem(409, "conflict", "It is stopping already."));
    render(
      <Confirm open onOpenChange={change} title="Stop it?" action="Stop" act={act}>
        Really?
      </Confirm>,
    );
    await userEvent.click(screen.getByRole("button", { name: "Stop" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("It is stopping already.");
    expect(change).not.toHaveBeenCalled();
    act.mockResolvedValueOnce(undefined);
    await userEvent.click(screen.getByRole("button", { name: "Stop" }));
    expect(change).toHaveBeenCalledWith(false);
  });
});

describe("a field", () => {
  it("is described by its error", () => {
    const error = about(new Problem(400, "invalid", "name must be shorter.", "name"), "name");
    render(<TextField label="Name" hint="optional" error={error} defaultValue="" />);
    expect(screen.getByLabelText("Name")).toHaveAccessibleDescription(
      "optional name must be shorter.",
    );
    expect(screen.getByLabelText("Name")).toBeInvalid();
    expect(about(new Error("x"), "name")).toBeNull();
  });
});

describe("a time", () => {
  it("tells the exact one in UTC on hover", () => {
    render(<Time at={1_700_000_000.5} />);
    expect(screen.getByTitle("2023-11-14 22:13:20.500 UTC")).toBeInTheDocument();
  });
});

describe("a gain", () => {
  it("says by its sign what its colour says", () => {
    render(<Gain value={-3} currency="USD" />);
    expect(screen.getByText(/\u22123\.00/)).toHaveClass("text-down");
    render(<Gain value={0.00004} currency="BTC" named={false} />);
    expect(screen.getByText("+0.00004")).toHaveClass("text-up");
  });
});

describe("a small curve", () => {
  it("keeps zero in sight", () => {
    const path = sparkPath(
      [
        { time: 0, value: 5 },
        { time: 10, value: 10 },
      ],
      100,
      20,
    );
    expect(path).toBe("M0.0 10.0L100.0 1.0");
    expect(sparkPath([{ time: 0, value: 5 }], 100, 20)).toBe("");
  });
});

describe("notifications", () => {
  it("keep an error until it is dismissed, and say nothing twice", async () => {
    render(<Toasts />);
    notify({ tone: "bad", text: "No." });
    notify({ tone: "bad", text: "No." });
    expect(await screen.findAllByRole("alert")).toHaveLength(1);
    await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

describe("a text with addresses", () => {
  it("has them as links, without the full stop after them", () => {
    render(<Linked text="Shared at https://h.example/s/a-b_c. More: (http://x.example)" />);
    const links = screen.getAllByRole("link").map((one) => one.getAttribute("href"));
    expect(links).toEqual(["https://h.example/s/a-b_c", "http://x.example"]);
  });
  it("never runs what somebody wrote", () => {
    render(<Linked text="javascript:alert(1) <b>no</b>" />);
    expect(screen.queryByRole("link")).toBeNull();
    expect(screen.getByText(/<b>no<\/b>/)).toBeInTheDocument();
  });
});
