/** Every check with its sentence, and with what to do if it is not fine. */
import { Panel } from "~/ui/panel";
import { StateDot } from "./state-dot";
import { byUrgency, type Row } from "./states";

/** Commands stand between backticks. */
function WithCode({ text }: { text: string }) {
  return text.split("`").map((part, place) => (place % 2 ? <code key={part}>{part}</code> : part));
}

export function CheckList({ rows }: { rows: Row[] }) {
  return (
    <Panel title="Checks" flush>
      <ul>
        {byUrgency(rows).map((row) => (
          <li
            key={row.name}
            className="grid gap-x-4 gap-y-0.5 border-line px-4 py-2.5 not-first:border-t sm:grid-cols-[12rem_minmax(0,1fr)]"
          >
            <span className="flex items-baseline gap-2.5 font-medium">
              <StateDot state={row.state} />
              {row.name.charAt(0).toUpperCase() + row.name.slice(1)}
            </span>
            <div className="min-w-0 [overflow-wrap:anywhere]">
              <p>{row.says}</p>
              {row.fix && (
                <p className="text-soft">
                  What to do: <WithCode text={row.fix} />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
