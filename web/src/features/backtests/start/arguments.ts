/** Backtest arguments as form fields; the default value of each decides its type. */
import type { Arguments } from "~/features/backtests/types";

export type Kind = "boolean" | "integer" | "number" | "date" | "text" | "json";

export interface Field {
  name: string;
  kind: Kind;
  text: string;
}

export class InvalidArguments extends Error {
  constructor(
    readonly field: string | null,
    message: string,
  ) {
    super(message);
    this.name = "InvalidArguments";
  }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

export function fieldsOf(values: Arguments | null | undefined): Field[] {
  return Object.entries(values ?? {}).map(([name, value]) => ({
    name,
    kind: kindOf(value),
    text: textOf(value),
  }));
}

export function kindOf(value: unknown): Kind {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "string") return DATE.test(value) ? "date" : "text";
  return "json";
}

/** The arguments in the fields; throws for the first invalid one, by name. */
export function argumentsOf(fields: readonly Field[]): Arguments {
  return Object.fromEntries(fields.map((field) => [field.name, valueIn(field)]));
}

export function valueIn({ name, kind, text }: Field): unknown {
  const bare = text.trim();
  switch (kind) {
    case "boolean":
      return bare === "true";
    case "integer":
      // A whole number in the manifest is only an example: 0.5 may be valid too.
      return numberOf(name, bare);
    case "number":
      return numberOf(name, bare);
    case "json":
      try {
        return JSON.parse(bare === "" ? "null" : bare);
      } catch {
        throw new InvalidArguments(name, `${name} must be JSON, for example [1, 2] or null.`);
      }
    default:
      return kind === "date" ? bare : text;
  }
}

/** Parses typed JSON; only an object can name the arguments of a function. */
export function readJson(text: string): Arguments {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? ` (${error.message})` : "";
    throw new InvalidArguments(null, `This is not valid JSON${why}.`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidArguments(
      null,
      'Arguments need names: write an object, for example {"days": 365}.',
    );
  }
  return value as Arguments;
}

export function formatJson(values: Arguments): string {
  return JSON.stringify(values, null, 2);
}

/** Fields with their kinds kept where the new values still fit: 1 stays a number after 1.5. */
export function refilled(before: readonly Field[], values: Arguments): Field[] {
  const kinds = new Map(before.map((field) => [field.name, field.kind]));
  return fieldsOf(values).map((field) => {
    const kind = kinds.get(field.name);
    const isNumber = (one: Kind | undefined) => one === "integer" || one === "number";
    return isNumber(kind) && isNumber(field.kind) ? { ...field, kind: kind as Kind } : field;
  });
}

/** A value in one line. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text === "" || !Number.isFinite(value))
    throw new InvalidArguments(name, `${name} must be a number.`);
  return value;
}
