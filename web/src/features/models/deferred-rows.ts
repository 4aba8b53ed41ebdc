/** Long lists: the first screen is rendered at once, the rest when the browser is idle. */
import { startTransition, useEffect, useState } from "react";

const AT_ONCE = 40;

export function useDeferredRows<T>(items: readonly T[]): readonly T[] {
  const [all, setAll] = useState(items.length <= AT_ONCE);
  useEffect(() => startTransition(() => setAll(true)), []);
  return all ? items : items.slice(0, AT_ONCE);
}
