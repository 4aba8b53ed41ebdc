/** Copies the address of what a chart shows: its range, and the moment that is marked in it. */
import { useState } from "react";
import { IconButton } from "~/ui/button";
import { Icon } from "~/ui/icons";
import { Time } from "~/ui/time";
import { notify } from "~/ui/toasts";
import { type Axis, axisText } from "../axis";

export function MomentLink({
  moment,
  axis,
  leave,
}: {
  moment: number | null;
  axis: Axis;
  leave: () => void;
}) {
  const [done, setDone] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(window.location.href);
      setDone(true);
      setTimeout(() => setDone(false), 2_000);
    } catch {
      notify({
        tone: "bad",
        text: "The browser did not allow copying. Copy the address of this page yourself.",
      });
    }
  }
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {moment !== null && (
        <span className="flex items-center text-sm" role="status">
          <span aria-hidden="true" className="mr-1.5 h-3.5 border-l-2 border-warn" />
          <span className="num whitespace-nowrap">
            {axis === "time" ? <Time at={moment} as="stamp" /> : axisText(moment, axis)}
          </span>
          <IconButton label="Remove the mark" icon="close" onClick={leave} />
        </span>
      )}
      <button
        type="button"
        className="link inline-flex min-h-7 items-center gap-1.5 text-sm"
        title="Press the chart to mark a moment first"
        onClick={() => void copy()}
      >
        <Icon name={done ? "check" : "link"} />
        {done ? "Copied" : moment === null ? "Copy link" : "Copy link to this moment"}
      </button>
    </span>
  );
}
