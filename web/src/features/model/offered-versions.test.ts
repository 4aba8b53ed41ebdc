import { describe, expect, it } from "vitest";
import { offered } from "./offered-versions";

const version = (number: number) => ({
  version_id: `id${number}`,
  version: number,
  description: "",
  created_at: number,
});

describe("the versions that a start offers", () => {
  it("begin with the one that ran last, though there are newer ones", () => {
    const { choices, usual } = offered([version(2), version(1)], version(1));
    expect([choices.map(({ id }) => id), usual]).toEqual([["id2", "id1"], "id1"]);
  });
  it("begin with the newest of a model that never ran", () => {
    expect(offered([version(2), version(1)], null).usual).toBe("id2");
  });
  it("include the one that ran last though it is too old to be loaded", () => {
    const { choices, usual } = offered([version(60), version(59)], version(3));
    expect([choices.at(-1)?.version, usual]).toEqual([3, "id3"]);
  });
});
