/** Tells of what happens to a project's models while the app is open, seen or not. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import * as ask from "~/api/queries";
import { price, quantity } from "~/format/numbers";
import type { Stream } from "~/live/stream";
import { watchOver } from "~/live/vigil";
import { show } from "./browser";
import { isOn, useChoices } from "./choices";
import { type Filled, type Fills, fillsOf, type News, newlyFilled, newsOfRuns } from "./news";

const LOOKED_EVERY = 30_000; // milliseconds
/** Orders that are looked at after an event about orders. */
const NEWEST = 20;
const OF_ORDERS = new Set(["spot-market", "spot-limit", "spot-stop", "update-trade"]);

export function Notifier({ project, stream }: { project: string; stream: Stream }) {
  const { data: me } = useQuery(ask.me);
  const choices = useChoices(me?.id ?? "");
  if (!me || !isOn(choices)) return null;
  return <Watching key={project} project={project} stream={stream} me={me} />;
}

function Watching({ project, stream, me }: { project: string; stream: Stream; me: ask.Me }) {
  const [isOurs, setOurs] = useState(false);
  const choices = useChoices(me.id);
  useEffect(() => {
    setOurs(false);
    return watchOver(project, () => setOurs(true));
  }, [project]);
  if (!isOurs) return null;
  return (
    <>
      {choices.trouble && <Runs project={project} />}
      {choices.orders && <Orders project={project} stream={stream} />}
      {choices.server && me.is_operator && <Server />}
    </>
  );
}

function Runs({ project }: { project: string }) {
  const { data: runs } = useQuery(ask.deployed(project));
  const { data: models } = useQuery(ask.models(project));
  const before = useRef(runs);
  useEffect(() => {
    if (before.current && runs) {
      const nameOf = (id: string) => models?.find((one) => one.id === id)?.name ?? "A model";
      tellAll(newsOfRuns(before.current, runs, nameOf, project));
    }
    before.current = runs;
  }, [runs, models, project]);
  return null;
}

function Orders({ project, stream }: { project: string; stream: Stream }) {
  const { data: models } = useQuery(ask.models(project));
  const names = useRef(new Map<string, string>());
  names.current = new Map(models?.map(({ id, name }) => [id, name]));
  const traded = models
    ?.filter((model) => model.last_order)
    .slice(0, NEWEST)
    .map(({ id }) => id)
    .join();
  const known = useRef(new Map<string, Fills>());
  useEffect(() => {
    // What is filled now is no news.
    for (const id of traded?.split(",").filter(Boolean) ?? []) {
      if (!known.current.has(id))
        void newest(id).then((orders) => learn(known.current, id, orders));
    }
  }, [traded]);
  useEffect(
    () =>
      stream.listen(({ data }) => {
        const { model, kinds } = data as { model: string; kinds: string[] };
        if (kinds.length > 0 && !kinds.some((kind) => OF_ORDERS.has(kind))) return;
        void newest(model).then((orders) => {
          const news = newlyFilled(known.current.get(model) ?? new Map(), orders);
          learn(known.current, model, orders);
          const name = names.current.get(model) ?? "A model";
          if (news.length > 0) tellAll([filled(name, `/${project}/${model}/orders`, news)]);
        });
      }),
    [stream, project],
  );
  return null;
}

async function newest(model: string): Promise<Filled[]> {
  return (await ask.orders(model, { symbol: "", side: "", limit: NEWEST })).items;
}

function learn(known: Map<string, Fills>, model: string, orders: readonly Filled[]): void {
  known.set(model, new Map([...(known.get(model) ?? []), ...fillsOf(orders)]));
}

function filled(name: string, path: string, orders: readonly Filled[]): News {
  const body = orders
    .slice(0, 3)
    .map(({ side, symbol, fill }) =>
      [side, quantity(fill?.size), symbol, fill?.price == null ? "" : `at ${price(fill.price)}`]
        .filter(Boolean)
        .join(" "),
    );
  if (orders.length > 3) body.push(`and ${orders.length - 3} more`);
  const title = orders.length === 1 ? `${name}: order filled` : `${name}: orders filled`;
  return { topic: "orders", title, body: body.join("\n"), path, tag: `orders ${path}` };
}

function Server() {
  const { data: me } = useQuery({
    ...ask.me,
    refetchInterval: LOOKED_EVERY,
    refetchIntervalInBackground: true,
  });
  const trouble = me?.trouble ?? null;
  const before = useRef(trouble);
  useEffect(() => {
    if (trouble && !before.current)
      tellAll([
        {
          topic: "server",
          title: "Part of the server is not working",
          body: trouble,
          path: "/health",
          tag: "server",
        },
      ]);
    before.current = trouble;
  }, [trouble]);
  return null;
}

function tellAll(news: readonly News[]): void {
  // A browser that shows none has said so in the settings; the pages say the same things.
  for (const one of news) void show(one).catch(() => undefined);
}
