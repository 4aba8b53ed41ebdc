import { expect, it } from "vitest";
import { zoneOfExchanges } from "~/format/exchanges";
import { zoneFor } from "./kept-zone";

it("takes the zone of the address, then the one that was kept, then the reader's", () => {
  expect(zoneFor("utc", "tapeline_zone=Asia%2FTokyo")).toBe("utc");
  expect(zoneFor("local", "tapeline_zone=Asia%2FTokyo")).toBe("local");
  expect(zoneFor(undefined, "a=b; tapeline_zone=Asia%2FTokyo")).toBe("Asia/Tokyo");
  expect(zoneFor("Mars/Base", "tapeline_zone=nowhere")).toBe("local");
});

it("knows the zone of exchanges that agree", () => {
  expect(zoneOfExchanges(["NASDAQ", "nyse", "a broker"])).toBe("America/New_York");
  expect(zoneOfExchanges(["NASDAQ", "LSE"])).toBeNull();
  expect(zoneOfExchanges(["kraken"])).toBeNull();
});
