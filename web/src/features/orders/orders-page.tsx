/** All orders of a model. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import * as ask from "~/api/queries";
import { Panel } from "~/ui/panel";
import { OrderList } from "./order-list";

export function OrdersPage() {
  const { model = "" } = useParams({ strict: false });
  const { data } = useQuery(ask.model(model));
  const [symbol, setSymbol] = useState("");
  const [side, setSide] = useState("");
  return (
    <Panel
      title="Orders"
      note="in the order they arrived"
      flush
      aside={
        <div className="flex flex-wrap gap-2">
          <select
            aria-label="Symbol"
            className="field w-auto"
            value={symbol}
            onChange={(event) => setSymbol(event.target.value)}
          >
            <option value="">All symbols</option>
            {data?.symbols.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <select
            aria-label="Side"
            className="field w-auto"
            value={side}
            onChange={(event) => setSide(event.target.value)}
          >
            <option value="">Both sides</option>
            <option value="buy">Buys</option>
            <option value="sell">Sells</option>
          </select>
        </div>
      }
    >
      <OrderList model={model} filter={{ symbol, side }} />
    </Panel>
  );
}
