/** The whole log of a model. Search, type and the line that was linked to are in the address. */
import { useParams } from "@tanstack/react-router";
import { useView } from "~/ui/address";
import { LogView } from "./log-view";

export function LogsPage() {
  const { model = "" } = useParams({ strict: false });
  const [view, change] = useView<"q" | "type" | "line">();
  return (
    <section aria-label="Log" className="overflow-hidden rounded-lg border border-line bg-surface">
      <LogView model={model} view={view} change={change} />
    </section>
  );
}
