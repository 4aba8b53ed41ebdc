/** The whole log of a model. */
import { useParams } from "@tanstack/react-router";
import { LogView } from "./log-view";

export function LogsPage() {
  const { model = "" } = useParams({ strict: false });
  return (
    <section aria-label="Log" className="overflow-hidden rounded-lg border border-line bg-surface">
      <LogView model={model} />
    </section>
  );
}
