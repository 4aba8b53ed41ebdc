/** The one error shape of the server, as an exception. */
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
  return new Problem(response.status, "unknown", "The server sent no readable answer. Try again.");
}

/** A sentence for any thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof Problem) return error.message;
  if (error instanceof TypeError) return "The server cannot be reached. Check your connection.";
  return error instanceof Error ? error.message : "Something went wrong. Try again.";
}

export function isMissing(error: unknown): boolean {
  return error instanceof Problem && error.status === 404;
}

/** Error messages put field names in backquotes, which a page does not need. */
function plain(sentence: string): string {
  return sentence.replaceAll("`", "");
}

function isShape(value: unknown): value is Shape {
  return typeof value === "object" && value !== null && "error" in value && "code" in value;
}
