/** What changed between any two versions of a model: settings, files and lines. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo, useState, useSyncExternalStore } from "react";
import * as ask from "~/api/queries";
import { useModelActions } from "~/features/model/actions";
import { integer, plural } from "~/format/numbers";
import { useTitle, useView } from "~/ui/address";
import { Button } from "~/ui/button";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { Select } from "~/ui/select";
import { type FileChange, fileChanges, summary } from "./file-changes";
import { FileDiff, type Side } from "./file-diff";
import { files, useVersions } from "./queries";
import { VersionChanges } from "./version-changes";

/** Files that are open at first, and how large they may be. */
const OPEN_FILES = 10;
const OPEN_BYTES = 200_000;
/** Files that are listed at once. */
const MANY = 100;

/** Two columns of code need room. */
const WIDE = matchMedia("(min-width: 64rem)");

function watchWidth(watcher: () => void): () => void {
  WIDE.addEventListener("change", watcher);
  return () => WIDE.removeEventListener("change", watcher);
}

export function ComparePage() {
  const { model: id = "" } = useParams({ strict: false });
  const [view, change] = useView<"before" | "now" | "file" | "view">();
  const { data: model } = useQuery(ask.model(id));
  const { versions, error, isLoading } = useVersions(id, view.before, view.now);
  const { dialog, ask: wish } = useModelActions();
  const isWide = useSyncExternalStore(watchWidth, () => WIDE.matches);
  const now = versions.find((one) => one.version_id === view.now) ?? versions[0];
  const before =
    versions.find((one) => one.version_id === view.before) ??
    (now && versions[versions.indexOf(now) + 1]) ??
    versions.find((one) => one !== now);
  useTitle(now && before ? `v${before.version} to v${now.version}` : "Versions", model?.name);
  if (error) return <Failed error={error} />;
  if (isLoading || !model) return <Skeleton rows={8} />;
  if (!now || !before)
    return <Empty title="Nothing to compare">This model has fewer than two versions.</Empty>;
  const live = model.run && !model.run.ended_at ? model.run.version_id : null;
  const pick = (name: "before" | "now") => (chosen: string) =>
    change({ before: before.version_id, now: now.version_id, [name]: chosen, file: "" });
  return (
    <div className="grid gap-4">
      <Panel
        title="What changed"
        aside={
          <div className="flex flex-wrap items-center gap-2 text-sm text-soft">
            from
            <Choice
              label="From"
              versions={versions}
              value={before.version_id}
              choose={pick("before")}
            />
            to
            <Choice label="To" versions={versions} value={now.version_id} choose={pick("now")} />
            <Button
              onClick={() => change({ before: now.version_id, now: before.version_id, file: "" })}
            >
              Swap
            </Button>
            {live !== now.version_id && (
              <Button
                icon={live ? "restart" : "play"}
                onClick={() => wish({ act: "start", model, versionId: now.version_id })}
              >
                {live ? `Switch to v${now.version}` : `Run v${now.version}`}
              </Button>
            )}
          </div>
        }
      >
        <VersionChanges before={before} now={now} />
      </Panel>
      {before === now ? (
        <Empty title="The same version">Choose two different versions to compare.</Empty>
      ) : (
        <Files
          key={`${before.version_id} ${now.version_id}`}
          model={id}
          side={{ before: before.version_id, now: now.version_id }}
          isSplit={view.view === "split" && isWide}
          split={(wanted) => change({ view: wanted ? "split" : "" })}
          sought={view.file ?? ""}
          seek={(file) => change({ file }, "typed")}
        />
      )}
      {dialog}
    </div>
  );
}

function Choice({
  label,
  versions,
  value,
  choose,
}: {
  label: string;
  versions: readonly ask.Version[];
  value: string;
  choose: (id: string) => void;
}) {
  return (
    <Select
      aria-label={label}
      className="w-auto"
      value={value}
      onChange={(event) => choose(event.target.value)}
    >
      {versions.map((one) => (
        <option key={one.version_id} value={one.version_id}>
          v{one.version}
        </option>
      ))}
    </Select>
  );
}

function Files({
  model,
  side,
  isSplit,
  split,
  sought,
  seek,
}: {
  model: string;
  side: Side;
  isSplit: boolean;
  split: (wanted: boolean) => void;
  /** The file that the address names. */
  sought: string;
  seek: (path: string) => void;
}) {
  const before = useQuery(files(model, side.before));
  const now = useQuery(files(model, side.now));
  const found = useMemo(
    () => (before.data && now.data ? fileChanges(before.data, now.data) : null),
    [before.data, now.data],
  );
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [most, setMost] = useState(MANY);
  const error = before.error ?? now.error;
  if (error) return <Failed error={error} />;
  if (!found) return <Skeleton rows={6} />;
  const { changes, unchanged } = found;
  if (changes.length === 0)
    return (
      <Empty title="The same files">
        {plural(unchanged, "file")}, all of them equal in every byte.
      </Empty>
    );
  // The file that the address names is shown, wherever it is in the list.
  const shown = changes.filter(({ path }, at) => at < most || path === sought);
  const isOpen = (change: FileChange, place: number) =>
    change.path === sought || isOpenAtFirst(change, place) !== toggled.has(change.path);
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h2 className="text-base">
          Files: {summary(changes)}
          <span className="font-normal text-soft"> · {integer(unchanged)} unchanged</span>
        </h2>
        <label className="flex items-center gap-2 max-lg:hidden">
          <input
            type="checkbox"
            checked={isSplit}
            onChange={(event) => split(event.target.checked)}
            className="accent-[var(--accent)]"
          />
          Side by side
        </label>
      </div>
      {shown.map((change, place) => (
        <FileDiff
          key={`${change.kind} ${change.path}`}
          change={change}
          side={side}
          isSplit={isSplit}
          isOpen={isOpen(change, place)}
          isSought={change.path === sought}
          toggle={() => {
            const wasOpen = isOpen(change, place);
            setToggled((old) =>
              withOnly(old, change.path, isOpenAtFirst(change, place) === wasOpen),
            );
            seek(wasOpen ? "" : change.path);
          }}
        />
      ))}
      {changes.length > shown.length && (
        <Button className="justify-self-start" onClick={() => setMost(most + MANY)}>
          Show more ({plural(changes.length - shown.length, "file")} left)
        </Button>
      )}
    </div>
  );
}

/** A long list begins closed: each open file asks for its text. */
function isOpenAtFirst({ before, now }: FileChange, place: number): boolean {
  return place < OPEN_FILES && Math.max(before?.size ?? 0, now?.size ?? 0) <= OPEN_BYTES;
}

function withOnly(old: ReadonlySet<string>, path: string, isIn: boolean): ReadonlySet<string> {
  const next = new Set(old);
  if (isIn) next.add(path);
  else next.delete(path);
  return next;
}
