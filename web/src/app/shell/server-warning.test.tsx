// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import * as ask from "~/api/queries";
import { ServerWarning } from "./server-warning";

function show(trouble: string | null): void {
  const client = new QueryClient();
  const me = { id: "u", email: "a@example.com", name: "A", created_at: 0, projects: [] };
  client.setQueryData(ask.me.queryKey, { ...me, is_demo: false, is_operator: true, trouble });
  render(
    <QueryClientProvider client={client}>
      <ServerWarning />
    </QueryClientProvider>,
  );
}

describe("trouble of the server", () => {
  it("is told with its reason to whoever is told of it", () => {
    show("the supervisor has not finished a turn for 40 s (Not a directory)");
    expect(screen.getByRole("alert")).toHaveTextContent("supervisor has not finished a turn");
  });
  it("is nowhere while all is well", () => {
    show(null);
    expect(screen.queryByRole("alert")).toBeNull();
  });
});
