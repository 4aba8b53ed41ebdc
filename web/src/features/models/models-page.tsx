/** Home: every model of a project with its status and its profit and loss. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { isMissing } from "~/api/problem";
import * as ask from "~/api/queries";
import { HaltButton } from "~/features/halting/halt-button";
import { useModelActions } from "~/features/model/actions";
import { integer, plural } from "~/format/numbers";
import { useTitle, useView } from "~/ui/address";
import { Button, ButtonLink, IconButton } from "~/ui/button";
import { Gain } from "~/ui/figures";
import { NotFound } from "~/ui/page-error";
import { Empty, Failed, PageHead, Skeleton } from "~/ui/panel";
import { Allowed, useMay } from "~/ui/rights/allowed";
import { PartialSign } from "./cells";
import { ConnectModel } from "./connect-model";
import { FirstModel } from "./first-model";
import { type Filter, filtered, type Row, rowsOf, type Totals, totalsOf } from "./fleet";
import { ModelCards } from "./model-cards";
import { ModelTable } from "./model-table";

const FILTERS: [Filter, string][] = [
  ["all", "All"],
  ["up", "Running"],
  ["troubled", "Failed"],
  ["idle", "Not running"],
];

export function ModelsPage() {
  const { project = "" } = useParams({ strict: false });
  const { data: me } = useQuery(ask.me);
  const models = useQuery(ask.models(project));
  const runs = useQuery(ask.deployed(project));
  const [{ connect }, change] = useView<"connect">();
  const mayConnect = useMay(project, "change_models");
  const toConnect = (wanted: boolean) => change({ connect: wanted ? "yes" : "" });
  const name = me?.projects.find((one) => one.id === project)?.name;
  useTitle(name);
  const rows = useMemo(() => rowsOf(models.data ?? [], runs.data ?? []), [models.data, runs.data]);
  if (isMissing(models.error)) return <NotFound />;
  return (
    <>
      <PageHead
        title={me ? (name ?? "Models") : undefined}
        actions={
          <>
            {rows.length > 0 && <HaltButton project={project} />}
            <Allowed project={project} right="change_models">
              <Button icon="key" onClick={() => toConnect(true)}>
                Connect a model
              </Button>
              <ButtonLink to="/$project/deploy" params={{ project }} weight="main" icon="upload">
                Deploy a model
              </ButtonLink>
            </Allowed>
          </>
        }
      />
      {models.error ? (
        <Failed error={models.error} retry={() => void models.refetch()} />
      ) : models.isPending || runs.isPending ? (
        <Skeleton rows={8} />
      ) : rows.length === 0 ? (
        <Allowed
          project={project}
          right="change_models"
          otherwise={
            <Empty title="No models yet">Members of this project can deploy or connect one.</Empty>
          }
        >
          <FirstModel project={project} connect={() => toConnect(true)} />
        </Allowed>
      ) : (
        <Fleet rows={rows} />
      )}
      <ConnectModel
        key={project}
        project={project}
        open={connect !== undefined && mayConnect}
        close={() => toConnect(false)}
      />
    </>
  );
}

function Fleet({ rows }: { rows: Row[] }) {
  const [{ show, q: typed = "", view }, change] = useView<"show" | "q" | "view">();
  const filter = FILTERS.find(([one]) => one === show)?.[0] ?? "all";
  // The address decides; without a word in it, what this browser used last.
  const asCards = view ? view === "cards" : prefersCards();
  const choose = (next: "cards" | "table") => {
    keep(next === "cards");
    change({ view: next });
  };
  const { dialog, ask: wish } = useModelActions();
  const shown = useMemo(() => filtered(rows, filter, typed), [rows, filter, typed]);
  const isHere = (one: Filter) => filtered(rows, one, "").length;
  return (
    <>
      <FleetTotals totals={totalsOf(rows)} />
      <section aria-label="Models" className="min-w-0 rounded-lg border border-line bg-surface">
        <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
          <div role="group" aria-label="Filter" className="flex flex-wrap gap-0.5">
            {FILTERS.map(([one, label]) => (
              <button
                key={one}
                type="button"
                aria-pressed={filter === one}
                onClick={() => change({ show: one === "all" ? "" : one })}
                className={`min-h-8 rounded-md px-2.5 ${filter === one ? "bg-accent-ground font-medium" : "text-soft hover:bg-hover hover:text-ink"}`}
              >
                {label} <span className="num text-xs text-soft">{isHere(one)}</span>
              </button>
            ))}
          </div>
          <input
            type="search"
            aria-label="Search models"
            placeholder="Search models"
            className="field ml-auto w-auto min-w-40 flex-1 sm:max-w-56"
            value={typed}
            onChange={(event) => change({ q: event.target.value }, "typed")}
          />
          <div className="flex">
            <IconButton
              label="View as a table"
              icon="list"
              aria-pressed={!asCards}
              className={asCards ? "" : "bg-hover text-ink"}
              onClick={() => choose("table")}
            />
            <IconButton
              label="View as cards"
              icon="grid"
              aria-pressed={asCards}
              className={asCards ? "bg-hover text-ink" : ""}
              onClick={() => choose("cards")}
            />
          </div>
        </div>
        {shown.length === 0 ? (
          <Empty title="No matching models">Choose another filter or change your search.</Empty>
        ) : asCards ? (
          <ModelCards rows={shown} ask={wish} />
        ) : (
          <ModelTable rows={shown} ask={wish} />
        )}
      </section>
      {dialog}
    </>
  );
}

function FleetTotals({ totals }: { totals: Totals }) {
  return (
    <dl className="mb-4 grid grid-cols-2 gap-3 sm:flex sm:flex-wrap">
      <Total name="Running">
        <span className="num">
          {integer(totals.up)}{" "}
          <span className="text-base font-normal text-soft">of {plural(totals.all, "model")}</span>
        </span>
      </Total>
      <Total name="Failed">
        <span className={`num ${totals.troubled ? "text-bad" : ""}`}>
          {integer(totals.troubled)}
        </span>
      </Total>
      {totals.gains.map(({ currency, value }) => (
        <Total
          key={currency}
          name={
            totals.gains.length > 1 && currency
              ? `Profit and loss in ${currency}`
              : "Profit and loss"
          }
        >
          <Gain value={value} currency={currency} />
          {totals.isPartial && <PartialSign />}
        </Total>
      ))}
    </dl>
  );
}

function Total({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-surface px-4 py-2.5 nth-of-type-[n+3]:col-span-2 sm:min-w-44">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="text-xl font-semibold [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

function prefersCards(): boolean {
  try {
    const kept = localStorage.getItem("tapeline.cards");
    if (kept !== null) return kept === "yes";
  } catch {
    // Without storage, the width of the screen decides.
  }
  return innerWidth < 640;
}

function keep(asCards: boolean): void {
  try {
    localStorage.setItem("tapeline.cards", asCards ? "yes" : "no");
  } catch {
    // Without storage, the choice is in the address alone.
  }
}
