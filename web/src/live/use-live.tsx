/** React hooks for the streams of models and projects, which refresh stale queries. */
import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useSyncExternalStore,
} from "react";
import { concernsLists, KINDS, Refresher, topicsOf } from "./refresh";
import { type Connection, Stream } from "./stream";
import { watchful } from "./vigil";

const ModelStream = createContext<Stream | null>(null);
const FACTS_EVERY = 10_000;
/** A portfolio is one large answer about many models. */
const PORTFOLIO_EVERY = 10_000;
/** How many points the small curves of lists have. */
export const SPARK_POINTS = 48;

/** Opens the stream of a model for everything below. */
export function LiveModel({ model, children }: { model: string; children: ReactNode }) {
  const queries = useQueryClient();
  const stream = useMemo(() => new Stream(`/api/models/${model}/stream`, KINDS), [model]);
  useEffect(() => {
    const refresher = new Refresher((topics) => {
      void queries.invalidateQueries({
        predicate: ({ queryKey: [whose, id, topic], state }) =>
          whose === "model" && id === model && topics.has(String(topic)) && !isLong(state.data),
      });
    });
    // Memory and CPU use are not on the tape: while events arrive, refresh them now and then.
    const facts = new Refresher(() => refresher.ask("facts"), FACTS_EVERY);
    const leave = [
      stream.listen(({ kind }) => {
        refresher.ask(...topicsOf(kind));
        facts.ask("facts");
      }),
      stream.whenMissed(() => void queries.invalidateQueries({ queryKey: ["model", model] })),
      // This request leads to sign-in when the session is over.
      stream.whenLost((isOver) => {
        void queries.refetchQueries({ queryKey: ["me"], exact: true });
        // The user may have lost access: fetching again shows the error.
        if (isOver) void queries.invalidateQueries({ queryKey: ["model", model] });
      }),
    ];
    stream.start();
    return () => {
      for (const one of leave) one();
      stream.stop();
      refresher.stop();
      facts.stop();
    };
  }, [model, queries, stream]);
  return <ModelStream value={stream}>{children}</ModelStream>;
}

/** A list that was scrolled through many pages is not fetched again from its start on each event. */
function isLong(data: unknown): boolean {
  return (data as { pages?: unknown[] } | undefined)?.pages !== undefined
    ? (data as { pages: unknown[] }).pages.length > 3
    : false;
}

export function useModelStream(): Stream {
  const stream = useContext(ModelStream);
  if (!stream) throw new Error("There is no model stream on this page.");
  return stream;
}

export function useConnection(stream: Stream): { state: Connection; since: number } {
  const state = useSyncExternalStore(stream.watch, () => stream.state);
  return { state, since: stream.since };
}

/** Keeps the list of a project's models fresh as long as it is shown. */
export function useLiveProject(project: string): Stream {
  const queries = useQueryClient();
  const stream = useMemo(
    () =>
      new Stream(
        `/api/projects/${project}/stream`,
        ["changed", "watch"],
        undefined,
        watchful(project),
      ),
    [project],
  );
  useEffect(() => {
    const refresher = new Refresher(() => {
      void queries.invalidateQueries({ queryKey: ["project", project, "models"] });
      void queries.invalidateQueries({ queryKey: ["project", project, "runs"] });
    });
    const together = new Refresher(() => {
      void queries.invalidateQueries({ queryKey: ["portfolio"] });
    }, PORTFOLIO_EVERY);
    const leave = [
      stream.listen(({ kind, data }) => {
        if (kind === "watch") {
          void queries.invalidateQueries({ queryKey: ["project", project, "watching"] });
          return;
        }
        const { model, kinds } = data as { model: string; kinds: string[] };
        if (!concernsLists(kinds)) return;
        refresher.ask("models");
        together.ask("portfolio");
        void queries.invalidateQueries({ queryKey: ["model", model, "pnl", SPARK_POINTS] });
      }),
      stream.whenMissed(() => {
        void queries.invalidateQueries({ queryKey: ["project", project, "watching"] });
        refresher.ask("models");
        together.ask("portfolio");
      }),
      stream.whenLost((isOver) => {
        void queries.refetchQueries({ queryKey: ["me"], exact: true });
        if (isOver) void queries.invalidateQueries({ queryKey: ["project", project] });
      }),
    ];
    stream.start();
    return () => {
      for (const one of leave) one();
      stream.stop();
      refresher.stop();
      together.stop();
    };
  }, [project, queries, stream]);
  return stream;
}
