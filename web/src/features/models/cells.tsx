/** Parts of a model that its row and its card share. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import * as ask from "~/api/queries";
import type { LastOrder } from "~/api/types";
import { Sparkline } from "~/charts/sparkline";
import type { Wish } from "~/features/model/actions";
import { price, quantity } from "~/format/numbers";
import { SPARK_POINTS } from "~/live/use-live";
import { IconButton } from "~/ui/button";
import { Gain, Side } from "~/ui/figures";
import { Icon } from "~/ui/icons";
import { Menu, MenuItem, MenuLine } from "~/ui/menu";
import { useMay } from "~/ui/rights/allowed";
import { Time } from "~/ui/time";
import { amountsOf, orderedAt, type Row } from "./fleet";

export const PARTIAL =
  "A symbol is not computed, so this does not include it. Open the model to see why.";

export function NameLink({ row }: { row: Row }) {
  const { model } = row;
  return (
    <Link
      to="/$project/$model/overview"
      params={{ project: model.project_id, model: model.id }}
      title={model.name}
      dir="auto"
      className="line-clamp-2 font-medium [overflow-wrap:anywhere] hover:text-accent hover:underline"
    >
      {model.name}
    </Link>
  );
}

/** Profit and loss in every currency, and a sign where a symbol is not part of it. */
export function Profit({ row, className = "" }: { row: Row; className?: string }) {
  const { pnl } = row.model;
  const [main, ...others] = amountsOf(pnl);
  return (
    <span className="inline-flex flex-col">
      <span>
        <Gain value={main?.value} currency={main?.currency ?? null} className={className} />
        {pnl.is_partial && <PartialSign />}
      </span>
      {others.map(({ currency, value }) => (
        <Gain key={currency} value={value} currency={currency} className="text-sm" />
      ))}
    </span>
  );
}

export function PartialSign() {
  return (
    <span title={PARTIAL} className="ml-1 inline-flex align-middle text-warn">
      <Icon name="warn" size={14} />
      <span className="sr-only">{PARTIAL}</span>
    </span>
  );
}

/** Loads its curve only when it scrolls into view, because a list may be long. */
export function Curve({ model, width }: { model: string; width?: number }) {
  const place = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!place.current) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) setSeen(true);
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  const { data } = useQuery({ ...ask.pnl(model, SPARK_POINTS, null, null), enabled: seen });
  return (
    <div ref={place} className="shrink-0">
      <Sparkline points={data?.series ?? []} {...(width ? { width } : {})} />
    </div>
  );
}

export function Ordered({
  order,
  className = "flex-wrap",
}: {
  order: LastOrder | null;
  className?: string;
}) {
  if (!order) return <span className="text-soft">–</span>;
  return (
    <span className={`flex min-w-0 items-baseline gap-x-2 whitespace-nowrap ${className}`}>
      {order.side && <Side side={order.side} />}
      <span dir="auto" className="min-w-0 max-w-36 truncate" title={order.symbol ?? undefined}>
        {order.symbol}
      </span>
      <span className="num text-soft empty:hidden">{sizeAndPrice(order)}</span>
      <span className="shrink-0 text-soft">
        <Time at={orderedAt(order)} as="ago" />
      </span>
    </span>
  );
}

function sizeAndPrice({ size, price: at }: LastOrder): string {
  return `${size === null ? "" : quantity(size)}${at === null ? "" : ` @ ${price(at)}`}`;
}

export function Actions({ row, ask: wish }: { row: Row; ask: (wish: Wish) => void }) {
  const { model, status, run } = row;
  const navigate = useNavigate();
  const params = { project: model.project_id, model: model.id };
  const mayChange = useMay(model.project_id, "change_models");
  const canStart = model.version !== null || run !== undefined;
  return (
    <div className="flex justify-end">
      {!mayChange ? null : status.isUp ? (
        <IconButton
          label={`Stop ${model.name}`}
          icon="stop"
          onClick={() => wish({ act: "stop", model })}
        />
      ) : (
        canStart && (
          <IconButton
            label={`Start ${model.name}`}
            icon="play"
            onClick={() => wish({ act: "start", model })}
          />
        )
      )}
      <Menu trigger={<IconButton label={`More actions for ${model.name}`} icon="more" />}>
        <MenuItem onSelect={() => void navigate({ to: "/$project/$model/logs", params })}>
          Log
        </MenuItem>
        <MenuItem onSelect={() => void navigate({ to: "/$project/$model/orders", params })}>
          Orders
        </MenuItem>
        <MenuItem onSelect={() => void navigate({ to: "/$project/$model/versions", params })}>
          Versions
        </MenuItem>
        {mayChange && (
          <>
            <MenuLine />
            <MenuItem
              onSelect={() =>
                void navigate({
                  to: "/$project/deploy",
                  params: { project: model.project_id },
                  search: { model: model.id },
                })
              }
            >
              Deploy a new version
            </MenuItem>
          </>
        )}
      </Menu>
    </div>
  );
}

/** Why it does not run, though it should. */
export function LastError({ row }: { row: Row }) {
  const { tone } = row.status;
  if (tone !== "bad" && tone !== "warn") return null;
  return (
    <p
      className={`mt-0.5 flex items-start gap-1.5 text-sm ${tone === "bad" ? "text-bad" : "text-warn"}`}
    >
      <Icon name="warn" size={14} className="mt-0.5" />
      <span dir="auto" title={row.status.detail} className="line-clamp-2 [overflow-wrap:anywhere]">
        {row.status.detail || "The model ended with an error. See its log."}
      </span>
    </p>
  );
}
