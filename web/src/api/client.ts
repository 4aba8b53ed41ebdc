/** The only client of the API. A response that says the session is over leads to sign-in and back. */
import createClient, { type Middleware } from "openapi-fetch";
import { noteAnswer } from "./last-answer";
import { problemOf } from "./problem";
import type { components, paths } from "./schema";
import { isSignedOut, session } from "./session";

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
    noteAnswer();
    if (response.ok) return;
    const problem = await problemOf(response);
    if (isSignedOut(problem)) await session.refused(request.method, moment);
    throw problem;
  },
};

export const api = createClient<paths>({ baseUrl: "" });
api.use(refuse);

/** The data of a response; errors were thrown before. */
export async function unwrap<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  if (data === undefined) throw new Error("The server sent an empty answer.");
  return data;
}

type Filled<T> = { [K in keyof T]?: NonNullable<T[K]> };

/** A query without its empty parameters, which the server would take as a filter. */
export function withoutEmpty<T extends object>(query: T): Filled<T> {
  const kept = Object.entries(query).filter(([, value]) => value != null && value !== "");
  return Object.fromEntries(kept) as Filled<T>;
}
