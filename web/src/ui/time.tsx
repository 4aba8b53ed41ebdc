/** A moment in the reader's zone; the exact one in UTC on hover and for machines. */
import { useEffect, useState } from "react";
import { ago, type Moment, machine, stamp, utc, when } from "~/format/times";

type Shape = "when" | "stamp" | "ago";

export function Time({ at, as = "when" }: { at: Moment; as?: Shape }) {
  if (at == null) return <span className="text-soft">–</span>;
  return (
    <time dateTime={machine(at)} title={utc(at)} className="num whitespace-nowrap">
      {as === "ago" ? <Ago at={at} /> : as === "stamp" ? stamp(at) : when(at)}
    </time>
  );
}

/** The current time of the browser, updated regularly. */
export function useNow(everySeconds: number): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), everySeconds * 1000);
    return () => clearInterval(timer);
  }, [everySeconds]);
  return now;
}

function Ago({ at }: { at: number }) {
  return ago(at, useNow(10));
}
