import { describe, expect, it } from "vitest";
import { stepsOf } from "./progress";
import { formOf, nameFrom, problemWith, type Upload } from "./upload";

const archive = new File(["zip"], "Moving average.zip");
const upload: Upload = {
  project: "p",
  model: { name: "Mine" },
  archive,
  plan: "",
  python: "",
  description: "",
  schedule: "",
};

describe("an upload", () => {
  it("makes a new model or a version of one", () => {
    const fresh = formOf(upload);
    expect([fresh.get("createNew"), fresh.get("name"), fresh.get("modelId")]).toEqual([
      "true",
      "Mine",
      null,
    ]);
    const next = formOf({ ...upload, model: { id: "m" } });
    expect([next.get("createNew"), next.get("modelId")]).toEqual([null, "m"]);
  });
  it("leaves to the archive what nobody chose", () => {
    expect(formOf(upload).has("plan")).toBe(false);
    expect(formOf({ ...upload, plan: "small", python: "3.12" }).get("pythonVersion")).toBe("3.12");
  });
  it("is refused before it is sent when it cannot be right", () => {
    expect(problemWith({ name: "model.tar", size: 5 })).toContain("not a zip");
    expect(problemWith({ name: "model.zip", size: 0 })).toContain("empty");
    expect(problemWith({ name: "model.zip", size: 200_000_000 })).toContain("larger");
    expect(problemWith(archive)).toBeNull();
    expect(nameFrom(archive)).toBe("Moving average");
  });
  it("goes through three steps", () => {
    expect(stepsOf(undefined)).toEqual(["done", "now", "later"]);
    expect(stepsOf("installing")).toEqual(["done", "now", "later"]);
    expect(stepsOf("failed")).toEqual(["done", "failed", "later"]);
    expect(stepsOf("running")).toEqual(["done", "done", "done"]);
    expect(stepsOf("crashed")).toEqual(["done", "done", "failed"]);
  });
});
