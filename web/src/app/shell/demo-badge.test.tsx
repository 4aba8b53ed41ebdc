// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import * as ask from "~/api/queries";
import { DemoBadge } from "./demo-badge";

function show(isDemo: boolean): void {
  const client = new QueryClient();
  const me = { id: "u", email: "a@example.com", name: "A", created_at: 0, projects: [] };
  client.setQueryData(ask.me.queryKey, {
    ...me,
    is_demo: isDemo,
    is_operator: false,
    trouble: null,
  });
  render(
    <QueryClientProvider client={client}>
      <DemoBadge />
    </QueryClientProvider>,
  );
}

describe("the demo's mark", () => {
  it("is beside the name in the demo's account", () => {
    show(true);
    expect(screen.getByText("Demo")).toHaveAttribute("title", expect.stringContaining("remove"));
  });
  it("is nowhere else", () => {
    show(false);
    expect(screen.queryByText("Demo")).toBeNull();
  });
});
