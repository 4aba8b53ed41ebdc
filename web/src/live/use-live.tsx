/** Live models and projects in React: a stream as long as a page is open, and what it refreshes. */
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

const ModelStream = createContext<Stream | null>(null);
const FACTS_EVERY = 10_000;
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
    // Memory and processor use are on no tape: while a model talks, look at them now and then.
    const facts = new Refresher(() => refresher.ask("facts"), FACTS_EVERY);
    const leave = [
      stream.listen(({ kind }) => {
        refresher.ask(...topicsOf(kind));
        facts.ask("facts");
      }),
      stream.whenAnew(() => void queries.invalidateQueries({ queryKey: ["model", model] })),
      // Asking who we are leads to sign-in when we are nobody any more.
      stream.whenLost((isOver) => {
        void queries.refetchQueries({ queryKey: ["me"], exact: true });
        // What is shown is not ours to see any more: the answers say so.
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

/** A list that somebody has scrolled far into is not fetched again from its beginning for each event. */
function isLong(data: unknown): boolean {
  return (data as { pages?: unknown[] } | undefined)?.pages !== undefined
    ? (data as { pages: unknown[] }).pages.length > 3
    : false;
}

export function useModelStream(): Stream {
  const stream = useContext(ModelStream);
  if (!stream) throw new Error("No model is live here.");
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
    () => new Stream(`/api/projects/${project}/stream`, ["changed"]),
    [project],
  );
  useEffect(() => {
    const refresher = new Refresher(() => {
      void queries.invalidateQueries({ queryKey: ["project", project, "models"] });
      void queries.invalidateQueries({ queryKey: ["project", project, "runs"] });
    });
    const leave = [
      stream.listen(({ data }) => {
        const { model, kinds } = data as { model: string; kinds: string[] };
        if (!concernsLists(kinds)) return;
        refresher.ask("models");
        void queries.invalidateQueries({ queryKey: ["model", model, "pnl", SPARK_POINTS] });
      }),
      stream.whenAnew(() => refresher.ask("models")),
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
    };
  }, [project, queries, stream]);
  return stream;
}
