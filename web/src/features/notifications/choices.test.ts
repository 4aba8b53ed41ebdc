import { beforeEach, expect, it, vi } from "vitest";

beforeEach(() => {
  vi.resetModules();
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
  });
});

it("keeps the choices of an account, and only of that one", async () => {
  const { choose, chosen, isOn, USUAL } = await import("./choices");
  expect(isOn(chosen("ada"))).toBe(false);
  choose("ada", { ...USUAL, orders: true });
  expect(chosen("ada")).toEqual({ trouble: true, orders: true, server: true });
  expect(isOn(chosen("grace"))).toBe(false);
  vi.resetModules();
  const again = await import("./choices");
  expect(again.chosen("ada").orders).toBe(true);
});

it("takes nothing from storage that it does not understand", async () => {
  localStorage.setItem("tapeline.notifications", "{broken");
  const { chosen, isOn } = await import("./choices");
  expect(isOn(chosen("ada"))).toBe(false);
});
