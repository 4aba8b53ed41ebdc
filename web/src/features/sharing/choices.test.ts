import { describe, expect, it } from "vitest";
import {
  bodyOf,
  draftOf,
  EMPTY,
  embedOf,
  errorsIn,
  expiryOf,
  type Made,
  previewOf,
  restrictionsOf,
  type Share,
} from "./choices";

const SHARE: Share = {
  id: "s1",
  backtest_id: null,
  title: null,
  percent_only: false,
  hide_symbols: false,
  hide_sizes: true,
  hide_logs: false,
  delay_hours: 24,
  base: null,
  has_password: true,
  expires_at: null,
  is_expired: false,
  created_at: 1,
  created_by: "ada@example.com",
  views: 3,
  last_viewed_at: null,
};

describe("a draft", () => {
  it("is what the server takes", () => {
    const draft = { ...EMPTY, percent_only: true, delay: "24", password: "correct horse" };
    expect(bodyOf({ ...draft, expiry: "day" }, null, 1_000)).toEqual({
      percent_only: true,
      hide_symbols: false,
      hide_sizes: false,
      hide_logs: false,
      delay_hours: 24,
      base: null,
      title: null,
      backtest_id: null,
      password: "correct horse",
      expires_at: 87_400,
    });
  });
  it("has a capital only where there is no account value", () => {
    const draft = { ...EMPTY, base: "25,000" };
    expect(bodyOf(draft, null).base).toBe(25_000);
    expect(bodyOf(draft, "b1").base).toBeNull();
  });
  it("is previewed with what it says and no more", () => {
    expect(previewOf("m1", EMPTY, null)).toBe("/api/models/m1/shares/preview?");
    const draft = { ...EMPTY, percent_only: true, title: "A & B", password: "secret" };
    expect(previewOf("m1", draft, "b 1")).toBe(
      "/api/models/m1/shares/preview?percent_only=true&title=A+%26+B&backtest_id=b+1",
    );
  });
  it("says what is wrong with it", () => {
    expect(errorsIn(EMPTY)).toEqual({});
    expect(errorsIn({ ...EMPTY, delay: "1.5" })).toHaveProperty("delay");
    expect(errorsIn({ ...EMPTY, delay: "-1" })).toHaveProperty("delay");
    expect(errorsIn({ ...EMPTY, base: "a lot" })).toHaveProperty("base");
    expect(errorsIn({ ...EMPTY, base: "0" })).toHaveProperty("base");
    expect(errorsIn({ ...EMPTY, expiry: "until", until: "2001-01-01T00:00" })).toHaveProperty(
      "until",
    );
    expect(errorsIn({ ...EMPTY, expiry: "until", until: "2101-01-01T00:00" })).toEqual({});
  });
  it("of a link that is there leaves its end alone", () => {
    const draft = draftOf(SHARE);
    expect(draft.delay).toBe("24");
    expect(draft.percent_only).toBe(true);
    expect(expiryOf(draft, 0)).toBeUndefined();
    expect(expiryOf({ ...draft, expiry: "never" }, 0)).toBeNull();
  });
});

describe("a link", () => {
  it("is told in a few words", () => {
    expect(restrictionsOf(SHARE)).toBe("percent only, 24 hours late, with a password");
    expect(
      restrictionsOf({ ...SHARE, hide_sizes: false, delay_hours: 0, has_password: false }),
    ).toBe("shows everything");
  });
  it("in a frame keeps its title in one attribute", () => {
    const made: Made = {
      ...SHARE,
      title: 'Say "hi" <b>',
      token: "t",
      url: "http://x/s/t",
      embed_url: "http://x/embed/t",
    };
    expect(embedOf(made)).toContain('title="Say &quot;hi&quot; &lt;b>"');
    expect(embedOf(made)).toContain('src="http://x/embed/t"');
  });
});
