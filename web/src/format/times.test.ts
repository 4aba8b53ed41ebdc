import { describe, expect, it } from "vitest";
import { ago, fromLocal, lasting, machine, precise, stamp, utc, when } from "./times";

const local = (text: string) => new Date(text).getTime() / 1000;

describe("moments", () => {
  const now = local("2026-11-15T12:00:00");
  it("are short when they are near", () => {
    expect(when(local("2026-11-15T09:05:07"), now)).toBe("09:05:07");
    expect(when(local("2026-11-14T09:05:07"), now)).toBe("14 Nov 09:05:07");
    expect(when(local("2025-01-02T09:05:07"), now)).toBe("2 Jan 2025 09:05:07");
    expect(when(null)).toBe("–");
  });
  it("have their whole date in tables, and their exact time in UTC", () => {
    expect(stamp(local("2026-11-15T09:05:07"))).toBe("2026-11-15 09:05:07");
    expect(utc(1_700_000_000.123)).toBe("2023-11-14 22:13:20.123 UTC");
    expect(precise(local("2026-11-15T09:05:07") + 0.042, now)).toBe("09:05:07.042");
    expect(precise(local("2026-11-14T09:05:07") + 0.042, now)).toBe("2026-11-14 09:05:07.042");
  });
  it("are some time ago", () => {
    expect(ago(now - 2, now)).toBe("just now");
    expect(ago(now + 60, now)).toBe("just now");
    expect(ago(now - 90, now)).toBe("1 min ago");
    expect(ago(null, now)).toBe("never");
  });
  it("that no calendar has are told as they are", () => {
    expect(utc(1e15)).toBe("1000000000000000 s since 1970");
    expect(machine(1e15)).toBeUndefined();
  });
  it("come from a field in the reader's zone", () => {
    expect(fromLocal("2026-11-15T12:00:00")).toBe(now);
    expect(fromLocal("")).toBeNull();
  });
});

describe("durations", () => {
  it("are told in what matters", () => {
    expect(lasting(59)).toBe("59 s");
    expect(lasting(3_599)).toBe("59 min");
    expect(lasting(7_500)).toBe("2 h 5 min");
    expect(lasting(20 * 3_600)).toBe("20 h");
    expect(lasting(3 * 86_400)).toBe("3 d");
    expect(lasting(400 * 86_400)).toBe("1 y 1 mo");
  });
});
