/** The prices of a symbol with the model's orders in them. Only the range in view is loaded. */
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import * as ask from "~/api/queries";
import type { Order } from "~/api/types";
import { OrderDetail } from "~/features/orders/order-detail";
import { useView } from "~/ui/address";
import { Panel } from "~/ui/panel";
import { notify } from "~/ui/toasts";
import { PriceChoices } from "./price-choices";
import { LIVE, PriceFigure } from "./price-figure";
import type { PriceSearch } from "./price-search";

/** How long before its fill an order may have been sent, in seconds. */
const BEFORE = 30 * 86_400;

export function PricesPage() {
  const { model = "" } = useParams({ strict: false });
  const search: PriceSearch = useSearch({ strict: false });
  const [, change] = useView<"symbol" | "interval" | "shape">();
  const { data: facts } = useQuery(ask.model(model));
  const newest = useQuery({
    ...ask.prices(model, { symbol: search.symbol ?? "", interval: "", points: 2, window: null }),
    // The first bar of a model: from then on the chart asks for new ones itself.
    refetchInterval: ({ state }) => (state.data?.symbol === null ? LIVE : false),
  });
  const [opened, setOpened] = useState<Order | null>(null);
  const symbol = search.symbol ?? newest.data?.symbol ?? "";
  const symbols = useMemo(() => {
    const known = newest.data?.symbols.map((one) => one.symbol) ?? [];
    return [...new Set([...known, ...(facts?.symbols ?? []), symbol])].filter(Boolean);
  }, [newest.data, facts, symbol]);
  const open = useCallback(
    async (id: string, time: number) => {
      const asked = { symbol, side: "", limit: 1000, since: time - BEFORE, until: time + 1 };
      const found = (await ask.orders(model, asked)).items.find((one) => one.id === id);
      if (found) setOpened(found);
      else notify({ tone: "bad", text: `Order ${id} was not found. Look for it under Orders.` });
    },
    [model, symbol],
  );
  return (
    <Panel
      title="Prices"
      aside={
        symbol && (
          <PriceChoices
            symbols={symbols}
            symbol={symbol}
            interval={search.interval ?? ""}
            shape={search.shape ?? "candles"}
            change={change}
          />
        )
      }
    >
      {newest.data && !symbol ? (
        <p className="py-8 text-center text-soft">
          There are no prices yet. They appear with the first bar, mark or order of this model.
        </p>
      ) : (
        symbol && (
          <PriceFigure
            key={`${symbol} ${search.interval} ${search.at}`}
            model={model}
            symbol={symbol}
            interval={search.interval ?? ""}
            shape={search.shape ?? "candles"}
            at={search.at ?? null}
            onOrder={open}
          />
        )
      )}
      <OrderDetail order={opened} close={() => setOpened(null)} />
    </Panel>
  );
}
