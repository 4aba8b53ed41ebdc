/** A preview of the shared page, rendered by the server with the current choices. */
import { useEffect, useState } from "react";
import { type Draft, errorsIn, previewOf } from "./choices";

/** Milliseconds without typing before the preview is requested. */
const PAUSE = 350;

export function Preview({
  model,
  backtest,
  draft,
  isMade,
}: {
  model: string;
  backtest: string | null;
  draft: Draft;
  isMade: boolean;
}) {
  const wrong = errorsIn({ ...draft, expiry: "never" });
  const isWrong = Object.keys(wrong).length > 0;
  const address = useSettled(isWrong ? null : previewOf(model, draft, backtest));
  const [loaded, setLoaded] = useState<string | null>(null);
  return (
    <section aria-labelledby="preview" className="flex min-w-0 flex-col">
      <div className="mb-2 flex flex-wrap items-baseline justify-between gap-x-4">
        <h3 id="preview" className="text-base">
          {isMade ? "What visitors see" : "What visitors will see"}
        </h3>
        {address && (
          <a className="link text-sm" href={address} target="_blank" rel="noreferrer">
            Open in full size
          </a>
        )}
      </div>
      <div className="relative min-h-[32rem] flex-1 overflow-hidden rounded-md border border-line bg-ground lg:min-h-[70vh]">
        {address && (
          <iframe
            title="Preview of the shared page"
            src={address}
            // No scripts and no navigation: the preview is only for viewing.
            sandbox="allow-same-origin"
            onLoad={() => setLoaded(address)}
            className={`absolute inset-0 size-full transition-opacity ${loaded === address ? "" : "opacity-60"}`}
          />
        )}
      </div>
      <p role="status" className="sr-only">
        {address && loaded === address ? "The preview is up to date." : "The preview is loading."}
      </p>
    </section>
  );
}

/** The last address that did not change for a moment; null keeps the one before. */
function useSettled(address: string | null): string | null {
  const [settled, setSettled] = useState(address);
  useEffect(() => {
    if (address === null || address === settled) return;
    const timer = setTimeout(() => setSettled(address), PAUSE);
    return () => clearTimeout(timer);
  }, [address, settled]);
  return settled;
}
