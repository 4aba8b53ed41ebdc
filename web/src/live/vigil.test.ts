import { afterEach, expect, it, vi } from "vitest";
import { watchful, watchOver } from "./vigil";

/** One browser: a lock is held by one at a time. */
function browser() {
  const held: { name: string }[] = [];
  const waiting = new Map<string, (() => void)[]>();
  const locks = {
    query: async () => ({ held }),
    request: async (
      name: string,
      { signal }: { signal: AbortSignal },
      act: () => Promise<void>,
    ) => {
      if (held.some((one) => one.name === name))
        await new Promise<void>((go) => waiting.set(name, [...(waiting.get(name) ?? []), go]));
      if (signal.aborted) throw new Error("aborted");
      const own = { name };
      held.push(own);
      await act();
      held.splice(held.indexOf(own), 1);
      waiting.get(name)?.shift()?.();
    },
  };
  vi.stubGlobal("navigator", { locks });
  vi.stubGlobal("document", {
    hidden: true,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  });
}

const settled = () => new Promise((go) => setTimeout(go, 0));

afterEach(() => vi.unstubAllGlobals());

it("keeps a hidden tab in sight while it watches, and no other", async () => {
  browser();
  const [sight, told] = [watchful("p"), vi.fn()];
  sight.watch(told);
  expect(sight.isHidden()).toBe(true);
  const end = watchOver("p", () => undefined);
  await settled();
  expect([sight.isHidden(), watchful("other").isHidden(), told.mock.calls.length]).toEqual([
    false,
    true,
    1,
  ]);
  end();
  await settled();
  expect(sight.isHidden()).toBe(true);
});

it("lets one tab watch a project at a time", async () => {
  browser();
  const begun: string[] = [];
  const end = watchOver("p", () => begun.push("first"));
  const last = watchOver("p", () => begun.push("second"));
  await settled();
  expect(begun).toEqual(["first"]);
  end();
  await settled();
  expect(begun).toEqual(["first", "second"]);
  last();
  await settled();
});

it("leaves connections for the rest of the browser", async () => {
  browser();
  const ends: (() => void)[] = [];
  for (const project of ["a", "b", "c", "d"]) {
    ends.push(watchOver(project, () => undefined));
    await settled();
  }
  const hidden = ["a", "b", "c", "d"].map((project) => watchful(project).isHidden());
  expect(hidden).toEqual([false, false, false, true]);
  for (const end of ends) end();
  await settled();
});
