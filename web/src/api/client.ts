/** The one way to the server. Who is not signed in any more is sent to, and comes back here. */
import createClient, { type Middleware } from "openapi-fetch";
import { problemOf } from "./problem";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

const refuse: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return;
    if (response.status === 401) toSignIn();
    throw await problemOf(response);
  },
};

export const api = createClient<paths>({ baseUrl: "" });
api.use(refuse);

export function toSignIn(): void {
  const here = location.pathname + location.search;
  location.assign(`/auth/signin?redirectUrl=${encodeURIComponent(here)}`);
}

/** The data of an answer; what is no success was thrown before. */
export async function given<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  if (data === undefined) throw new Error("The server answered nothing.");
  return data;
}

type Said<T> = { [K in keyof T]?: NonNullable<T[K]> };

/** A query without what was not said: an empty text asks for nothing. */
export function said<T extends object>(query: T): Said<T> {
  const kept = Object.entries(query).filter(([, value]) => value != null && value !== "");
  return Object.fromEntries(kept) as Said<T>;
}
