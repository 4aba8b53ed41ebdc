import { describe, expect, it } from "vitest";
import { Problem } from "./problem";
import { isSignedOut, Session } from "./session";

function somewhere() {
  const went: string[] = [];
  const place = {
    time: 0,
    path: "/p/m/overview?x=1",
    now: () => place.time,
    here: () => place.path,
    go: (address: string) => void went.push(address),
  };
  return { place, went, session: new Session(place) };
}

describe("a session that is over", () => {
  it("leads to sign-in from where one has just gone, and back there", () => {
    const { place, went, session } = somewhere();
    place.time = 60_000;
    session.move("/p/keys");
    place.path = "/p/keys";
    place.time = 90_000; // a slow server
    void session.refused("GET", 61_000);
    expect(went).toEqual(["/auth/signin?redirectUrl=%2Fp%2Fkeys"]);
    expect(session.isLost).toBe(false);
  });
  it("leaves the page of who only looks, until they go somewhere", () => {
    const { place, went, session } = somewhere();
    let told = 0;
    session.watch(() => {
      told += 1;
    });
    place.time = 60_000;
    void session.refused("GET");
    void session.refused("GET");
    expect([session.isLost, told, went]).toEqual([true, 1, []]);
    session.move("/p/keys?a=b");
    expect(went).toEqual(["/auth/signin?redirectUrl=%2Fp%2Fkeys%3Fa%3Db"]);
  });
  it("leads there at once who wants to do something", () => {
    const { place, went, session } = somewhere();
    place.time = 60_000;
    void session.refused("POST");
    expect(went).toEqual(["/auth/signin?redirectUrl=%2Fp%2Fm%2Foverview%3Fx%3D1"]);
  });
  it("is told from a wrong password", () => {
    expect(isSignedOut(new Problem(401, "unidentified", ""))).toBe(true);
    expect(isSignedOut(new Problem(401, "wrong_credentials", ""))).toBe(false);
    expect(isSignedOut(new Problem(403, "unidentified", ""))).toBe(false);
  });
});
