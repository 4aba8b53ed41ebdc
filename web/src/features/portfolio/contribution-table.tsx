/** What each model added to the return, and why others are not part of it. Stacks on phones. */
import { Link } from "@tanstack/react-router";
import type { Portfolio } from "~/api/types";
import { Bar } from "~/charts/number-bar";
import { barsOf, type Bar as Place } from "~/charts/number-bars";
import { signedPercent } from "~/features/backtests/metrics";
import { direction, money, plural } from "~/format/numbers";
import { Gain } from "~/ui/figures";
import { Empty, Panel } from "~/ui/panel";
import { StackedCell, StackedTable } from "~/ui/tables/stacked-table";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import type { Member } from "./members";

const HEADS = ["Model", "Account value", "Own return", "Gain", "Contribution"];
/** Two columns in little room, then four, with names in the cells; five where there is room. */
const ROW =
  "grid grid-cols-2 items-baseline gap-x-4 gap-y-1 px-4 py-2 @lg:grid-cols-4 @[48rem]:grid-cols-[minmax(8rem,2fr)_repeat(3,minmax(7.5rem,1fr))_minmax(8rem,1.4fr)]";

const NONE: ReadonlyMap<string, string> = new Map();

const FILE: readonly FileColumn<Member>[] = [
  ["model", (one) => one.name],
  ["model_id", (one) => one.model_id],
  ["account_value", (one) => one.account_value],
  ["own_return", (one) => one.total_return],
  ["gain", (one) => one.gain],
  ["contribution", (one) => one.contribution],
  ["reason", (one) => one.reason],
];

export function ContributionTable({
  found,
  projects,
}: {
  found: Portfolio;
  /** Their names, which rows show if the models are of several. */
  projects: ReadonlyMap<string, string>;
}) {
  const inside = found.models.filter((one) => one.in_account);
  const outside = found.models.filter((one) => !one.in_account);
  const isOne = new Set(found.models.map((one) => one.project_id)).size < 2;
  const named = isOne ? NONE : projects;
  const bars = barsOf(inside.map((one) => one.contribution));
  return (
    <Panel
      title="Contribution of each model"
      flush
      aside={
        <TableFile
          name="Contribution of each model"
          columns={FILE}
          rows={[...inside, ...outside]}
        />
      }
    >
      {inside.length === 0 ? (
        <Empty title="No model has an account yet">{found.reason}</Empty>
      ) : (
        <StackedTable label="Contribution of each model" heads={HEADS} row={ROW} from="48rem">
          {inside.map((one, place) => (
            <Row
              key={one.model_id}
              one={one}
              bar={bars[place] ?? null}
              currency={found.currency}
              project={named.get(one.project_id)}
            />
          ))}
          <Total found={found} />
        </StackedTable>
      )}
      {outside.length > 0 && <Outside models={outside} projects={named} />}
    </Panel>
  );
}

function Row({
  one,
  bar,
  currency,
  project,
}: {
  one: Member;
  bar: Place | null;
  currency: string;
  project: string | undefined;
}) {
  return (
    <div role="row" className={`${ROW} hover:bg-hover`}>
      <span role="rowheader" className="col-span-full min-w-0 @[48rem]:col-span-1">
        <Name one={one} project={project} />
      </span>
      <Cell name="Account value">
        <span className="num whitespace-nowrap">{money(one.account_value, currency)}</span>
      </Cell>
      <Cell name="Own return">
        <Share value={one.total_return} />
      </Cell>
      <Cell name="Gain">
        <Gain value={one.gain} currency={currency} />
      </Cell>
      <Cell name="Contribution">
        <Share value={one.contribution} />
        <Bar place={bar} tone={(one.contribution ?? 0) < 0 ? "down" : "up"} className="mt-1" />
      </Cell>
    </div>
  );
}

function Cell({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <StackedCell name={name} from="48rem">
      {children}
    </StackedCell>
  );
}

function Name({ one, project }: { one: Member; project: string | undefined }) {
  return (
    <>
      <Link
        to="/$project/$model/overview"
        params={{ project: one.project_id, model: one.model_id }}
        dir="auto"
        title={one.name}
        className="block truncate text-left font-medium hover:text-accent hover:underline"
      >
        {one.name}
      </Link>
      {project && (
        <span dir="auto" title={project} className="block truncate text-left text-xs text-soft">
          {project}
        </span>
      )}
    </>
  );
}

export function Share({ value }: { value: number | null }) {
  if (value === null) return <span className="text-soft">–</span>;
  // Percentages have two decimals, as dollars do.
  const way = direction(value * 100, "USD");
  const tone = way === "up" ? "text-up" : way === "down" ? "text-down" : "";
  return <span className={`num whitespace-nowrap ${tone}`}>{signedPercent(value)}</span>;
}

function Total({ found }: { found: Portfolio }) {
  return (
    <div role="row" className={`${ROW} font-medium`}>
      <span role="rowheader" className="col-span-full @[48rem]:col-span-1">
        All together
      </span>
      <Cell name="Account value">
        <span className="num whitespace-nowrap">{money(found.account_value, found.currency)}</span>
      </Cell>
      <Cell name="Own return">
        <Share value={found.total_return} />
      </Cell>
      <Cell name="Gain">
        <Gain value={found.gain} currency={found.currency} />
      </Cell>
      <Cell name="Contribution">
        <Share value={found.total_return} />
      </Cell>
    </div>
  );
}

function Outside({
  models,
  projects,
}: {
  models: Member[];
  projects: ReadonlyMap<string, string>;
}) {
  return (
    <details className="border-t border-line" open={models.length <= 3}>
      <summary className="cursor-pointer px-4 py-2.5 text-soft">
        {plural(models.length, "model is", "models are")} not in the account
      </summary>
      <ul className="divide-y divide-line border-t border-line">
        {models.map((one) => (
          <li
            key={one.model_id}
            className="grid gap-x-4 px-4 py-2 md:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]"
          >
            <div className="min-w-0">
              <Name one={one} project={projects.get(one.project_id)} />
            </div>
            <p className="min-w-0 [overflow-wrap:anywhere] text-soft">
              {one.reason} <Profits one={one} />
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Profits({ one }: { one: Member }) {
  const made = Object.entries(one.profits);
  if (made.length === 0) return null;
  return (
    <span className="inline-flex flex-wrap gap-x-3">
      {made.map(([currency, value]) => (
        <Gain key={currency} value={value} currency={currency} />
      ))}
    </span>
  );
}
