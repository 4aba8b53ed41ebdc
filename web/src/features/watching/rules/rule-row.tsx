/** One rule of a list: what it asks, what it does, how it is and why, and what can be done with it. */
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { plural } from "~/format/numbers";
import { IconButton } from "~/ui/button";
import { Confirm } from "~/ui/dialogs/dialog";
import { Menu, MenuItem, MenuLine } from "~/ui/menu";
import { Time } from "~/ui/time";
import { notify } from "~/ui/toasts";
import { type Condition, type Rule, type RuleState, watchingKey } from "../queries";
import { INKS, StateBadges } from "../state-badge";
import { doing, inWords, isMuted, SEVERITIES, STATES, type State, telling } from "../words";
import { MuteDialog } from "./mute-dialog";

/** States that a row shows; of more it says how many there are. */
const SHOWN = 4;

interface Shown {
  project: string;
  rule: Rule;
  condition: Condition | undefined;
  /** The name of its model; null for a rule about the project. */
  model: string | null;
  mayChange: boolean;
  now: number;
}

export function RuleRow({ project, rule, condition, model, mayChange, now }: Shown) {
  return (
    <li className="flex gap-3 px-4 py-3">
      <div className="grid min-w-0 flex-1 gap-1">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h2 dir="auto" className="min-w-0 text-base [overflow-wrap:anywhere]">
            {mayChange ? (
              <Link
                to="/$project/watching/$rule"
                params={{ project, rule: rule.rule_id }}
                className="hover:text-accent hover:underline"
              >
                {rule.name}
              </Link>
            ) : (
              rule.name
            )}
          </h2>
          <StateBadges rule={rule} now={now} />
        </div>
        <p className="text-soft [overflow-wrap:anywhere]">
          {model === null ? "Whole project" : <bdi>{model}</bdi>}: {inWords(rule, condition)}.{" "}
          {SEVERITIES[rule.severity]?.[0] ?? rule.severity}: {doing(rule.do)}.
        </p>
        {rule.source === "version" && (
          <p className="text-sm text-soft">
            Promised by the version of the model
            {rule.is_tightened ? ", and tightened here" : ""}.
          </p>
        )}
        {isMuted(rule, now) && (
          <p className="text-sm text-soft [overflow-wrap:anywhere]">
            Muted until <Time at={rule.muted_until} /> by <bdi>{rule.muted_by}</bdi>
            {rule.muted_why && (
              <>
                : <bdi>{rule.muted_why}</bdi>
              </>
            )}
          </p>
        )}
        {rule.trouble ? (
          <p className="text-warn [overflow-wrap:anywhere]">{rule.trouble}</p>
        ) : (
          <States project={project} states={rule.states} isOfModel={model !== null} />
        )}
      </div>
      {mayChange && <Actions project={project} rule={rule} now={now} />}
    </li>
  );
}

/** Why: for each model that is not well, one sentence with the figures. */
export function States({
  project,
  states,
  isOfModel,
}: {
  project: string;
  states: readonly RuleState[];
  isOfModel: boolean;
}) {
  const said = telling(states);
  const more = states.length - Math.min(said.length, SHOWN);
  return (
    <ul className="grid gap-0.5 text-sm">
      {said.slice(0, SHOWN).map((one) => {
        const [label, tone] = STATES[one.state as State] ?? [one.state, "soft"];
        return (
          <li key={one.subject} className="[overflow-wrap:anywhere]">
            {!isOfModel && (
              <>
                <bdi className="font-medium">{one.name}</bdi>{" "}
                <span className={INKS[tone]}>{label.toLowerCase()}</span>:{" "}
              </>
            )}
            <span dir="auto">{one.said || label}</span>{" "}
            {one.since > 0 && (
              <span className="text-soft">
                since <Time at={one.since} />
              </span>
            )}
            {one.incident_id && (
              <>
                {" "}
                <Link
                  to="/$project/incidents/$incident"
                  params={{ project, incident: one.incident_id }}
                  className="link underline"
                >
                  Incident
                  <span className="sr-only"> of {one.name}</span>
                </Link>
              </>
            )}
          </li>
        );
      })}
      {more > 0 && <li className="text-soft">and {plural(more, "other", "others")}</li>}
    </ul>
  );
}

function Actions({ project, rule, now }: { project: string; rule: Rule; now: number }) {
  const [asks, setAsks] = useState<"mute" | "delete" | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const refresh = () => queries.invalidateQueries({ queryKey: watchingKey(project) });
  const params = { path: { rule: rule.rule_id } };
  async function unmute() {
    await unwrap(api.POST("/api/rules/{rule}/mute", { params, body: { until: null, why: "" } }));
    notify({ tone: "good", text: `${rule.name} counts again.` });
    await refresh();
  }
  return (
    <>
      <Menu trigger={<IconButton label={`Actions for ${rule.name}`} icon="more" />}>
        <MenuItem
          onSelect={() =>
            void navigate({
              to: "/$project/watching/$rule",
              params: { project, rule: rule.rule_id },
            })
          }
        >
          Edit
        </MenuItem>
        {isMuted(rule, now) ? (
          <MenuItem onSelect={() => void unmute()}>End the mute</MenuItem>
        ) : (
          <MenuItem onSelect={() => setAsks("mute")}>Mute…</MenuItem>
        )}
        {rule.source === "person" && (
          <>
            <MenuLine />
            <MenuItem danger onSelect={() => setAsks("delete")}>
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      <MuteDialog
        project={project}
        rule={rule}
        open={asks === "mute"}
        onOpenChange={() => setAsks(null)}
      />
      <Confirm
        open={asks === "delete"}
        onOpenChange={() => setAsks(null)}
        title={`Delete ${rule.name}?`}
        action="Delete"
        danger
        act={async () => {
          await unwrap(api.DELETE("/api/rules/{rule}", { params }));
          await refresh();
        }}
      >
        Nobody watches this any more. Its incidents stay; open ones are over.
      </Confirm>
    </>
  );
}
