/** What needs attention first: each trouble once, with links to where it can be put right. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Portfolio } from "~/api/types";
import { plural } from "~/format/numbers";
import { Icon } from "~/ui/icons";
import { Panel } from "~/ui/panel";
import { type PageOfModel, type Report, type Trouble, troubles } from "./attention";
import type { Members } from "./members";

/** Sentences about one trouble, and models of one sentence, that are shown at first. */
const [SAID, NAMED] = [3, 6];

export function AttentionPanel({ found, members }: { found: Portfolio; members: Members }) {
  const every = troubles(found.attention);
  if (every.length === 0) return null;
  const models = new Set(found.attention.map((one) => one.model_id)).size;
  return (
    <Panel title="Needs attention" note={plural(models, "model")} flush>
      <ul className="divide-y divide-line">
        {every.map((one) => (
          <Row key={one.code} trouble={one} members={members} />
        ))}
      </ul>
    </Panel>
  );
}

function Row({ trouble, members }: { trouble: Trouble; members: Members }) {
  const [all, setAll] = useState(false);
  const { reports, page, title, tone } = trouble;
  const count = reports.reduce((sum, { models }) => sum + models.length, 0);
  const isLong = reports.length > SAID || reports.some(({ models }) => models.length > NAMED);
  return (
    <li className="flex gap-2.5 px-4 py-2.5">
      <Icon name="warn" className={`mt-0.5 ${tone === "bad" ? "text-bad" : "text-warn"}`} />
      <div className="grid min-w-0 flex-1 gap-x-4 lg:grid-cols-[10rem_minmax(0,1fr)]">
        <h3 className="text-base font-medium">{title}</h3>
        <div className="grid min-w-0 gap-1">
          {(all ? reports : reports.slice(0, SAID)).map((one) => (
            <Said
              key={one.message}
              report={all ? one : { ...one, models: one.models.slice(0, NAMED) }}
              page={page}
              members={members}
            />
          ))}
          {isLong && (
            <button
              type="button"
              className="link min-h-6 justify-self-start"
              aria-expanded={all}
              onClick={() => setAll(!all)}
            >
              {all ? "Show fewer" : `Show all ${count}`}
            </button>
          )}
        </div>
      </div>
    </li>
  );
}

function Said({
  report: { message, models },
  page,
  members,
}: {
  report: Report;
  page: PageOfModel;
  members: Members;
}) {
  return (
    <div className="grid min-w-0 gap-x-4 lg:grid-cols-2">
      <p dir="auto" className="[overflow-wrap:anywhere] text-soft">
        {message}
      </p>
      <ul className="flex flex-wrap gap-x-4">
        {models.map((id) => {
          const one = members.get(id);
          return (
            one && (
              <li key={id} className="max-w-[min(100%,20rem)] min-w-0">
                <Link
                  to={`/$project/$model/${page}`}
                  params={{ project: one.project_id, model: id }}
                  dir="auto"
                  title={one.name}
                  className="link inline-block min-h-6 max-w-full truncate align-bottom"
                >
                  {one.name}
                </Link>
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}
