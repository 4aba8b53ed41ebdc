/** All orders of a model. The filter is in the address. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import * as ask from "~/api/queries";
import { withZone } from "~/format/zone";
import { useView } from "~/ui/address";
import { Icon } from "~/ui/icons";
import { Panel } from "~/ui/panel";
import { Select } from "~/ui/select";
import { OrderList } from "./order-list";

export function OrdersPage() {
  const { model = "" } = useParams({ strict: false });
  const { data: symbols = [] } = useQuery(ask.orderSymbols(model));
  const [{ symbol = "", side = "" }, change] = useView<"symbol" | "side">();
  const filter = new URLSearchParams({ ...(symbol && { symbol }), ...(side && { side }) });
  return (
    <Panel
      title="Orders"
      note="in the order they arrived"
      flush
      aside={
        <div className="flex flex-wrap items-center gap-2">
          <Select
            aria-label="Symbol"
            className="w-32 sm:w-48"
            value={symbol}
            onChange={(event) => change({ symbol: event.target.value })}
          >
            <option value="">All symbols</option>
            {symbol && !symbols.includes(symbol) && <option>{symbol}</option>}
            {symbols.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </Select>
          <Select
            aria-label="Side"
            className="w-auto"
            value={side}
            onChange={(event) => change({ side: event.target.value })}
          >
            <option value="">Both sides</option>
            <option value="buy">Buys</option>
            <option value="sell">Sells</option>
          </Select>
          <a
            className="link inline-flex items-center gap-1.5"
            href={withZone(`/api/models/${model}/orders.csv?${filter}`)}
            download
          >
            <Icon name="download" />
            CSV
          </a>
        </div>
      }
    >
      <OrderList model={model} filter={{ symbol, side }} />
    </Panel>
  );
}
