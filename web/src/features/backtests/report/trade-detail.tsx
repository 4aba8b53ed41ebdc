/** One trade of a backtest, with everything that was sent about it. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/features/backtests/queries";
import { price, quantity } from "~/format/numbers";
import { Dialog } from "~/ui/dialogs/dialog";
import { Side } from "~/ui/figures";
import { Fact, Failed, Skeleton } from "~/ui/panel";
import { Time } from "~/ui/time";

const KNOWN = new Set(["index", "symbol", "side", "time", "price", "size"]);

export function TradeDetail({
  model,
  id,
  index,
  close,
}: {
  model: string;
  id: string;
  index: number | null;
  close: () => void;
}) {
  const { data, error, refetch } = useQuery({
    queryKey: [...ask.keyOf(model, id), "trade", index],
    queryFn: () => ask.trade(model, id, index ?? 0),
    enabled: index !== null,
  });
  if (index === null) return null;
  const others = Object.entries(data ?? {}).filter(
    ([name, value]) => !KNOWN.has(name) && value !== null,
  );
  return (
    <Dialog open onOpenChange={(open) => !open && close()} title={`Trade ${index + 1}`} wide>
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton rows={3} />
      ) : data === null ? (
        <p>The result has been replaced, and has no such trade any more.</p>
      ) : (
        <div className="grid gap-4">
          <dl className="grid grid-cols-2 gap-x-4 gap-y-3 sm:grid-cols-3">
            <Fact name="Side">
              <Side side={data.side} />
            </Fact>
            <Fact name="Symbol" hint={data.symbol}>
              {data.symbol}
            </Fact>
            <Fact name="Time">
              <Time at={data.time} as="stamp" />
            </Fact>
            <Fact name="Size">{quantity(data.size)}</Fact>
            <Fact name="Price">{price(data.price)}</Fact>
          </dl>
          {others.length > 0 && (
            <section>
              <h3 className="mb-2">Also sent</h3>
              <pre
                tabIndex={0}
                aria-label="Also sent"
                className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-xs"
              >
                {JSON.stringify(Object.fromEntries(others), null, 2)}
              </pre>
            </section>
          )}
        </div>
      )}
    </Dialog>
  );
}
