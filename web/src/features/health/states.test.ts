import { expect, test } from "vitest";
import { byUrgency, type Row, type State } from "./states";

const row = (name: string, state: State): Row => ({ name, state, says: "", fix: "" });

test("the worst rows come first, and like rows keep their order", () => {
  const rows = [row("a", "green"), row("b", "yellow"), row("c", "red"), row("d", "yellow")];
  expect(byUrgency(rows).map((one) => one.name)).toEqual(["c", "b", "d", "a"]);
});
