/** One backtest: how it ended. The address is opened by clients after they have begun one. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import * as ask from "~/api/queries";
import { lasting } from "~/format/times";
import { Trouble } from "~/shell/trouble";
import { Fact, Notice, Panel, Skeleton } from "~/ui/panel";

export function BacktestPage() {
  const { model = "", backtest = "" } = useParams({ strict: false });
  const { data, error, refetch } = useQuery(ask.backtest(model, backtest));
  if (error) return <Trouble error={error} reset={() => void refetch()} />;
  if (!data) return <Skeleton rows={4} />;
  const { status } = data;
  return (
    <Panel title={data.label || data.description || "Backtest"}>
      {status === null ? (
        <Notice tone="info">
          It is under way. This page shows its end as soon as it is there.
        </Notice>
      ) : (
        <div className="grid gap-4">
          <Notice tone={status.successful ? "good" : "bad"}>
            {status.status_summary || (status.successful ? "It succeeded." : "It failed.")}
          </Notice>
          <dl className="flex flex-wrap gap-8">
            <Fact name="Took">
              {status.time_elapsed === null ? "–" : lasting(status.time_elapsed)}
            </Fact>
            <Fact name="Symbols">{data.symbols?.join(", ") || "–"}</Fact>
            <Fact name="Quoted in">{data.quote_asset ?? "–"}</Fact>
          </dl>
          {status.status_details && (
            <pre className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-xs">
              {status.status_details}
            </pre>
          )}
        </div>
      )}
    </Panel>
  );
}
