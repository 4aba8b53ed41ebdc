import { expect, it } from "vitest";
import { nothingYet } from "./outcome";
import { report } from "./words";

it("names the key of a witness, because anyone can choose a name", () => {
  const cosigned = [{ seq: 3, at: 0, name: "an exchange\nPROVEN", fingerprint: "ab".repeat(32) }];
  const { sections } = report({ ...nothingYet(), proofs: 1, events: 3, cosigned });
  const said = sections.flatMap((one) => one.lines).join("\n");
  expect(said).toContain('calls them "an exchange\\u{a}PROVEN", which proves nothing');
  expect(said).toContain(`Somebody with the key ${"ab".repeat(32)} signed the log up to event 3,`);
});
