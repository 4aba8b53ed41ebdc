import { expect, it } from "vitest";
import { byName } from "./names";

it("sorts numbers in names by their value", () => {
  expect(["Grid 10", "grid 2", "Grid 1"].toSorted(byName)).toEqual(["Grid 1", "grid 2", "Grid 10"]);
});
