// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Schemas } from "~/api/client";
import { HostList } from "./host-list";

type Host = Schemas["ShownHost"];

const server: Host = {
  name: "k3vx8qhmw2td5rfy",
  machine: "front",
  version: "1.2.3",
  state: "well",
  trouble: "",
  seen_at: null,
  running: 0,
  drained_at: null,
  forgotten_by: null,
  pythons: [],
  node: null,
};
const node: Host = {
  ...server,
  name: "n3vx8qhmw2td5rfy",
  machine: "shed",
  running: 3,
  pythons: ["3.13", "3.9"],
  node: {
    address: "10.0.0.2",
    cores: 4,
    cores_free: 2.5,
    memory: 8e9,
    memory_free: 6e9,
    confinement: "bubblewrap",
  },
};

function show(hosts: Host[]) {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <HostList hosts={hosts} here={server.name} />
    </QueryClientProvider>,
  );
}

it("shows nodes apart from servers, with what they have and what is taken of it", () => {
  show([node, server]);
  expect(screen.getAllByRole("heading").map((one) => one.textContent)).toEqual([
    "Nodes",
    "Servers",
  ]);
  const [first, second] = screen.getAllByRole("listitem");
  for (const fact of ["1.5 of 4", "2 GB of 8 GB", "3.13, 3.9", "bubblewrap", "3 runs"]) {
    expect(first).toHaveTextContent(fact);
  }
  expect(screen.getByRole("button", { name: "Drain shed (n3vx8qhmw2td5rfy)" })).toBeVisible();
  expect(second).toHaveTextContent("front (this one)");
  expect(screen.queryByRole("button", { name: /^Drain front/ })).toBeNull();
});

it("does not repeat what a lost node said of its room, and says what becomes of its models", () => {
  show([{ ...node, state: "unreachable", drained_at: 1 }]);
  expect(screen.getByRole("listitem")).toHaveTextContent("– of 4");
  expect(screen.getByRole("listitem")).toHaveTextContent("go on elsewhere");
  expect(screen.getByRole("button", { name: "Undrain shed (n3vx8qhmw2td5rfy)" })).toBeVisible();
});

it("calls a server that runs models a host, as ever", () => {
  show([server]);
  expect(screen.getByRole("heading")).toHaveTextContent("Hosts");
  expect(screen.queryByRole("button")).toBeNull();
});

it("says of a drained host only what is true of it", () => {
  const drained = { ...node, drained_at: 1 };
  show([
    { ...drained, name: "a" },
    { ...drained, name: "b", running: 0 },
    { ...drained, name: "c", state: "forgotten", forgotten_by: "ada" },
  ]);
  const [busy, idle, gone] = screen.getAllByRole("listitem");
  expect(busy).toHaveTextContent(
    "It is drained: it takes no new runs. Its models move to other hosts that have room.",
  );
  expect(idle).toHaveTextContent("It is drained: it takes no new runs.");
  expect(idle).not.toHaveTextContent("Its models");
  expect(gone).not.toHaveTextContent("drained");
});
