/** Every error of the server has one shape; this is it on our side, with what a person can do. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | null = null,
  ) {
    super(message);
    this.name = "Problem";
  }
}

interface Shape {
  error: string;
  code: string;
  field?: string | null;
}

export async function problemOf(response: Response): Promise<Problem> {
  const shape: unknown = await response.json().catch(() => null);
  if (isShape(shape)) {
    return new Problem(response.status, shape.code, plain(shape.error), shape.field ?? null);
  }
  return new Problem(response.status, "unknown", "The server could not answer. Try again.");
}

/** What went wrong, in words, whatever was thrown. */
export function words(error: unknown): string {
  if (error instanceof Problem) return error.message;
  if (error instanceof TypeError) return "The server cannot be reached. Check the connection.";
  return error instanceof Error ? error.message : "That did not work.";
}

export function isMissing(error: unknown): boolean {
  return error instanceof Problem && error.status === 404;
}

/** Errors name fields as programs know them, in backquotes. */
function plain(sentence: string): string {
  return sentence.replaceAll("`", "");
}

function isShape(value: unknown): value is Shape {
  return typeof value === "object" && value !== null && "error" in value && "code" in value;
}
