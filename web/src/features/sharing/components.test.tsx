// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import { Problem } from "~/api/problem";
import { bodyOf, type Draft, EMPTY, type Share } from "./choices";
import { ChoicesForm } from "./choices-form";
import { LinkList } from "./link-list";

const SHARE: Share = {
  id: "s1",
  backtest_id: null,
  title: "For Bob",
  percent_only: false,
  hide_symbols: false,
  hide_sizes: true,
  hide_logs: false,
  delay_hours: 0,
  base: null,
  has_password: false,
  expires_at: null,
  is_expired: false,
  created_at: 1_700_000_000,
  created_by: "ada@example.com",
  views: 1,
  last_viewed_at: null,
};

function Form({
  told,
  isLive = true,
  problem = null,
  changing = null,
}: {
  told: (draft: Draft) => void;
  isLive?: boolean;
  problem?: unknown;
  changing?: Share | null;
}) {
  const [draft, setDraft] = useState(EMPTY);
  return (
    <ChoicesForm
      draft={draft}
      onChange={setDraft}
      isLive={isLive}
      changing={changing}
      problem={problem}
      busy={false}
      submit={() => told(draft)}
      cancel={() => undefined}
    />
  );
}

describe("the form of a link", () => {
  it("says what was chosen", async () => {
    const told = vi.fn<(draft: Draft) => void>();
    render(<Form told={told} />);
    await userEvent.click(screen.getByLabelText("Percent only"));
    await userEvent.clear(screen.getByLabelText("Delay"));
    await userEvent.type(screen.getByLabelText("Delay"), "24");
    await userEvent.type(screen.getByLabelText("Capital"), "25,000");
    await userEvent.selectOptions(screen.getByLabelText("Expires"), "In a week");
    await userEvent.click(screen.getByRole("button", { name: "Create link" }));
    const [draft] = told.mock.calls[0] ?? [];
    if (!draft) throw new Error("nothing was told");
    expect(bodyOf(draft, null, 0)).toMatchObject({
      percent_only: true,
      hide_symbols: false,
      delay_hours: 24,
      base: 25_000,
      expires_at: 604_800,
    });
  });

  it("tells what is wrong where it is", async () => {
    render(<Form told={() => undefined} />);
    await userEvent.clear(screen.getByLabelText("Delay"));
    await userEvent.type(screen.getByLabelText("Delay"), "soon");
    await userEvent.click(screen.getByRole("button", { name: "Create link" }));
    expect(screen.getByLabelText("Delay")).toBeInvalid();
    expect(screen.getByLabelText("Delay")).toHaveAccessibleDescription(/whole hours/);
  });

  it("shows an error of the server beside its field", () => {
    const problem = new Problem(400, "invalid", "Too short.", "password");
    render(<Form told={() => undefined} problem={problem} />);
    expect(screen.getByLabelText("Password")).toHaveAccessibleDescription(/Too short/);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("asks for no capital where there is an account value", () => {
    render(<Form told={() => undefined} isLive={false} />);
    expect(screen.queryByLabelText("Capital")).toBeNull();
  });

  it("changes a link that is there without touching its end", () => {
    render(<Form told={() => undefined} changing={SHARE} />);
    expect(screen.getByRole("heading", { name: "Change For Bob" })).toBeInTheDocument();
    expect(screen.getByRole("option", { name: "Never (unchanged)" })).toBeInTheDocument();
  });
});

describe("existing links", () => {
  it("say what they show and how often they were looked at", () => {
    render(
      <LinkList
        model="m"
        links={[SHARE]}
        change={() => undefined}
        revoked={() => Promise.resolve()}
      />,
    );
    expect(screen.getByText("percent only")).toBeInTheDocument();
    expect(screen.getByText(/1 view/)).toHaveTextContent("never ends");
  });

  it("are revoked only after a question", async () => {
    render(
      <LinkList
        model="m"
        links={[SHARE]}
        change={() => undefined}
        revoked={() => Promise.resolve()}
      />,
    );
    await userEvent.click(screen.getByRole("button", { name: "Revoke For Bob" }));
    expect(screen.getByRole("alertdialog")).toHaveTextContent("cannot be undone");
  });

  it("that are none say so", () => {
    render(
      <LinkList model="m" links={[]} change={() => undefined} revoked={() => Promise.resolve()} />,
    );
    expect(screen.getByText(/Nobody outside the project/)).toBeInTheDocument();
  });
});
