/** Tells the operator on every page that work beside the requests does not get on. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";

const LOOKED_EVERY = 15_000; // milliseconds

export function ServerTrouble() {
  const { data: me } = useQuery({ ...ask.me, refetchInterval: LOOKED_EVERY });
  if (!me?.trouble) return null;
  return (
    <div role="alert" className="mb-4 rounded-md bg-bad-ground px-4 py-2.5 text-bad">
      <p>
        This server does not do all of its work: {me.trouble}. Its log says more, and so does{" "}
        <code>tapeline doctor</code>.
      </p>
    </div>
  );
}
