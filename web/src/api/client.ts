/** The one way to the server. Who is not signed in any more is sent to, and comes back here. */
import createClient, { type Middleware } from "openapi-fetch";
import { problemOf } from "./problem";
import type { components, paths } from "./schema";
import { isUnknown, session } from "./session";

export type Schemas = components["schemas"];

const asked = new Map<string, number>();

const refuse: Middleware = {
  onRequest({ id }) {
    asked.set(id, Date.now());
  },
  onError({ id }) {
    asked.delete(id);
  },
  async onResponse({ id, request, response }) {
    const moment = asked.get(id);
    asked.delete(id);
    if (response.ok) return;
    const problem = await problemOf(response);
    if (isUnknown(problem)) await session.refused(request.method, moment);
    throw problem;
  },
};

export const api = createClient<paths>({ baseUrl: "" });
api.use(refuse);

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
