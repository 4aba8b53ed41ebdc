import { describe, expect, it } from "vitest";
import type { Change } from "~/api/types";
import { afterOf, changeOf, latenessOf, subjectOf } from "./words";

const change = (more: Partial<Change>): Change => ({
  seq: 3,
  received_at: 0,
  about: "order",
  sort: "changed",
  id: "o",
  symbol: "BTC-USD",
  time: 0,
  late_by: 5 * 3600,
  fields: [{ name: "price", before: 60, after: 190 }],
  ...more,
});

describe("a change after the fact", () => {
  it("marks an order as a shared page does", () => {
    const late = change({ sort: "late" });
    expect(latenessOf({ late_by: null, changes: [] })).toBe("");
    expect(latenessOf({ late_by: 5 * 3600, changes: [late] })).toBe("5 h late");
    expect(latenessOf({ late_by: 5 * 3600, changes: [late, change({})] })).toBe(
      "5 h after: changed",
    );
    const withdrawn = change({ sort: "withdrawn" });
    expect(latenessOf({ late_by: null, changes: [withdrawn] })).toBe("changed later");
    const early = change({ sort: "early", late_by: 0 });
    expect(latenessOf({ late_by: null, changes: [early] })).toBe("dated ahead");
  });

  it("says what was changed, from what to what, and how long after", () => {
    const one = change({});
    expect(subjectOf(one)).toBe("Order BTC-USD");
    expect(changeOf(one)).toBe("price changed from 60.00 to 190.00");
    expect(afterOf(one)).toBe("5 h after the fill");
  });

  it("names what a late report said", () => {
    const fields = [
      { name: "symbol", before: null, after: "BTC-USD" },
      { name: "side", before: null, after: "buy" },
      { name: "size", before: null, after: 0.5 },
    ];
    const one = change({ sort: "late", fields });
    expect(changeOf(one)).toBe("reported late: side buy, size 0.5");
    expect(afterOf(one)).toBe("5 h after its time");
  });

  it("tells a withdrawn order and own figures apart", () => {
    expect(changeOf(change({ sort: "withdrawn", fields: [] }))).toBe("assumed fill taken out");
    expect(afterOf(change({ sort: "withdrawn" }))).toBe("5 h after the order");
    const fields = [{ name: "values", before: null, after: 4 }];
    expect(changeOf(change({ about: "own_figures", fields }))).toBe("4 values changed");
    const all = [
      { name: "source", before: "computed", after: "model" },
      { name: "values", before: null, after: 1 },
      { name: "value", before: -40, after: 50 },
    ];
    expect(changeOf(change({ about: "own_figures", fields: all }))).toBe(
      "figures changed from computed to the model's own, 1 value changed, the last value changed from −40.00 to 50.00",
    );
    expect(afterOf(change({ about: "own_figures" }))).toBe("5 h after the first of them");
  });

  it("says how far into the future a report is dated", () => {
    const fields = [{ name: "price", before: null, after: 190 }];
    const one = change({ about: "price", sort: "early", time: 7200, late_by: 0, fields });
    expect(changeOf(one)).toBe("dated into the future: price 190.00");
    expect(afterOf(one)).toBe("2 h before its time");
  });

  it("says why a symbol is not computed any more", () => {
    const fields = [{ name: "reason", before: null, after: "It is an inverse contract." }];
    expect(changeOf(change({ about: "symbol", fields }))).toBe(
      "not computed any more: It is an inverse contract.",
    );
  });

  it("says that hidden values were changed, and that a field was set or taken out", () => {
    const of = (before: number | null, after: number | null) =>
      changeOf(change({ fields: [{ name: "average_price", before, after }] }));
    expect(of(null, null)).toBe("average price changed");
    expect(of(null, 3)).toBe("average price set to 3.00");
    expect(of(3, null)).toBe("average price 3.00 taken out");
    expect(changeOf(change({ fields: [] }))).toBe("sent again with other content");
  });
});
