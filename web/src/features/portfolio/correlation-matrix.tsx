/** How alike the daily returns of models are: in words first, then as a matrix with numbers. */
import { Link } from "@tanstack/react-router";
import { plural } from "~/format/numbers";
import { Empty, Panel } from "~/ui/panel";
import { TableFile } from "~/ui/tables/table-file";
import {
  type Correlations,
  coefficient,
  extremesOf,
  groundOf,
  type Pair,
  pairsOf,
} from "./correlation";
import type { Members } from "./members";

const NAMED = 5;
/** From so many models on, cells are smaller and columns have numbers only. */
const MANY = 9;

export function CorrelationMatrix({ found, members }: { found: Correlations; members: Members }) {
  const pairs = pairsOf(found);
  const { alike, unlike } = extremesOf(pairs, NAMED);
  const name = (id: string) => members.get(id)?.name ?? id;
  return (
    <Panel
      title="Correlation of daily returns"
      flush
      aside={
        pairs.length > 0 && (
          <TableFile
            name="Correlation of daily returns"
            columns={[
              ["one", ({ one }: Pair) => name(one)],
              ["other", ({ other }: Pair) => name(other)],
              ["correlation", ({ value }: Pair) => value],
              ["days", ({ days }: Pair) => days],
            ]}
            rows={pairs}
          />
        )
      }
    >
      {pairs.length === 0 ? (
        <Empty title="Nothing to compare yet">
          {found.models.length < 2
            ? "It takes two models that have an account."
            : `Two models need ${found.least_days} days in common on which their returns vary.`}
        </Empty>
      ) : (
        <>
          <div className="grid gap-x-8 gap-y-3 border-b border-line p-4 lg:grid-cols-2">
            <Pairs title="Most alike" pairs={alike} name={name} />
            <Pairs title="Least alike" pairs={unlike} name={name} />
          </div>
          <Matrix found={found} members={members} />
          <p className="border-t border-line px-4 py-2 text-sm text-soft">
            1 is the same every day, 0 is unrelated, −1 is the opposite. An empty cell has fewer
            than {found.least_days} common days, or returns that do not vary.
            {found.left_out
              ? ` ${plural(found.left_out, "model")} with smaller accounts are not shown.`
              : ""}
          </p>
        </>
      )}
    </Panel>
  );
}

function Pairs({
  title,
  pairs,
  name,
}: {
  title: string;
  pairs: Pair[];
  name: (id: string) => string;
}) {
  if (pairs.length === 0) return null;
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-xs font-normal text-soft">{title}</h3>
      <ul className="grid gap-1">
        {pairs.map(({ one, other, value, days }) => (
          <li key={`${one} ${other}`} className="flex min-w-0 items-baseline gap-3">
            <span
              className="num w-14 shrink-0 rounded-sm px-1.5 text-right"
              style={{ backgroundColor: groundOf(value) }}
            >
              {coefficient(value)}
            </span>
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              <bdi>{name(one)}</bdi> and <bdi>{name(other)}</bdi>
              <span className="num text-xs text-soft"> {plural(days, "day")}</span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Matrix({ found, members }: { found: Correlations; members: Members }) {
  const isLarge = found.models.length >= MANY;
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label="Correlation matrix"
      className="relative max-h-[80vh] overflow-auto focus-visible:-outline-offset-2"
    >
      <table className={`num border-separate border-spacing-px ${isLarge ? "text-xs" : "text-sm"}`}>
        <caption className="sr-only">Correlation of the daily returns of each two models</caption>
        <thead>
          <tr>
            <th
              scope="col"
              className="sticky top-0 left-0 z-20 bg-surface px-3 text-left text-xs font-medium text-soft"
            >
              Model
            </th>
            {found.models.map((id, place) => (
              <th
                key={id}
                scope="col"
                title={members.get(id)?.name}
                className="sticky top-0 z-10 bg-surface px-1 py-1.5 text-center text-xs font-medium text-soft"
              >
                {place + 1}
                <span className="sr-only">{members.get(id)?.name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.models.map((id, row) => (
            <tr key={id}>
              <th
                scope="row"
                className="sticky left-0 z-10 bg-surface pr-2 pl-3 text-left font-normal"
              >
                <Head place={row + 1} id={id} members={members} />
              </th>
              {found.models.map((other, column) => (
                <Cell
                  key={other}
                  value={row === column ? null : (found.values[row]?.[column] ?? null)}
                  isOwn={row === column}
                  isLarge={isLarge}
                  title={`${members.get(id)?.name} and ${members.get(other)?.name}: ${plural(found.days[row]?.[column] ?? 0, "common day")}`}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Head({ place, id, members }: { place: number; id: string; members: Members }) {
  const one = members.get(id);
  return (
    <span className="flex w-28 items-baseline gap-2 sm:w-52">
      <span aria-hidden="true" className="w-5 shrink-0 text-right text-xs text-soft">
        {place}
      </span>
      {one && (
        <Link
          to="/$project/$model/overview"
          params={{ project: one.project_id, model: id }}
          dir="auto"
          title={one.name}
          className="min-w-0 flex-1 truncate text-left hover:text-accent hover:underline"
        >
          {one.name}
        </Link>
      )}
    </span>
  );
}

function Cell({
  value,
  isOwn,
  isLarge,
  title,
}: {
  value: number | null;
  isOwn: boolean;
  isLarge: boolean;
  title: string;
}) {
  const size = isLarge ? "min-w-8 h-7" : "min-w-16 h-9";
  return (
    <td
      title={isOwn ? undefined : title}
      className={`${size} rounded-sm px-0.5 text-center ${isOwn ? "bg-sunken" : ""}`}
      style={isOwn ? undefined : { backgroundColor: groundOf(value) }}
    >
      {value === null ? (
        <span className="sr-only">{isOwn ? "itself" : "not known"}</span>
      ) : (
        coefficient(value, isLarge)
      )}
    </td>
  );
}
