import { expect, it } from "vitest";
import { brief } from "./linked-text";

it("shows as much of an address as one needs to recognise it", () => {
  expect(brief("https://example.com/s/abc")).toBe("example.com/s/abc");
  const long = brief(`http://127.0.0.1:8700/s/${"x".repeat(43)}`);
  expect(long).toMatch(/^127\.0\.0\.1:8700\/s\/x+…$/);
  expect(long).toHaveLength(36);
});
