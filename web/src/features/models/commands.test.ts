import { describe, expect, it } from "vitest";
import { quoted } from "~/format/shell";
import { deployCommand, pushCommand, signInCommand } from "./commands";

describe("commands to copy", () => {
  it("are safe to paste whatever is in them", () => {
    expect(signInCommand("http://h", "a+b$(reboot)@example.com")).toContain(
      "'email=a+b$(reboot)@example.com'",
    );
    expect(quoted("it's")).toBe(`'it'"'"'s'`);
    expect(quoted("plain-1.2/x@y")).toBe("plain-1.2/x@y");
  });
  it("have the ids and keys in them", () => {
    expect(deployCommand("http://h:1", "p1")).toContain("projectId=p1");
    const text = pushCommand("http://h:1", { model: "m1", key: "k1", pass: "s1" });
    for (const part of [
      "model_id: m1",
      "api_key: k1",
      "api_pass: s1",
      "http://h:1/v1/live/spot-market",
    ]) {
      expect(text).toContain(part);
    }
  });
});
