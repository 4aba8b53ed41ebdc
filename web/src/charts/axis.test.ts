import { expect, it } from "vitest";
import { axisText } from "./axis";

it("names moments of both axes", () => {
  expect(axisText(3 * 86_400, "start")).toBe("day 3");
  expect(axisText(600, "start")).toBe("10 min");
});
