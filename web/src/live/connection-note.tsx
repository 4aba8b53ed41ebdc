/** A note that appears only while the page is not live. */
import { lasting } from "~/format/times";
import { useNow } from "~/ui/time";
import type { Stream } from "./stream";
import { useConnection } from "./use-live";

export function ConnectionNote({ stream, silent = false }: { stream: Stream; silent?: boolean }) {
  const { state, since } = useConnection(stream);
  const now = useNow(1);
  const behind = now - since / 1000;
  const isBehind = state === "behind" && behind >= 1;
  if (silent || !(isBehind || state === "ended")) return <span role="status" className="sr-only" />;
  return (
    <span role="status" className="rounded-md bg-warn-ground px-2 py-0.5 text-sm text-warn">
      {isBehind
        ? `Not live for ${lasting(behind)}. Reconnecting…`
        : `No longer live. ${stream.reason}`}
    </span>
  );
}
