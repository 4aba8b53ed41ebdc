/** Warns the operator on every page when background work is failing. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";

const LOOKED_EVERY = 15_000; // milliseconds

export function ServerWarning() {
  const { data: me } = useQuery({ ...ask.me, refetchInterval: LOOKED_EVERY });
  if (!me?.trouble) return null;
  return (
    <div role="alert" className="mb-4 rounded-md bg-bad-ground px-4 py-2.5 text-bad">
      <p>
        Part of this server is not working: {me.trouble}.{" "}
        <a href="/health" className="underline">
          See its health
        </a>
        , or run <code>tapeline status</code>.
      </p>
    </div>
  );
}
