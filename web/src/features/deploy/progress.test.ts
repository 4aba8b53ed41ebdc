import { describe, expect, it } from "vitest";
import { crashWords, stepsOf } from "./progress";

describe("the steps of a deployment", () => {
  it("are done only while nothing has crashed", () => {
    expect(stepsOf("running", 0)[2]).toBe("done");
    expect(stepsOf("running", 2)[2]).toBe("failed");
    expect(stepsOf("restarting", 1)[2]).toBe("failed");
    expect(stepsOf("crashed", 4)[2]).toBe("failed");
  });
  it("say how often it crashed", () => {
    expect(crashWords("restarting", 1)).toContain("1 time so far");
    expect(crashWords("running", 3)).toContain("3 times so far");
    expect(crashWords("crashed", 4)).toContain("given up");
  });
});
