/** The source of one version: its files, and one of them with numbered lines. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import * as ask from "~/api/queries";
import { bytes, integer, plural } from "~/format/numbers";
import { useTitle, useView } from "~/ui/address";
import { CopyButton } from "~/ui/copy";
import { Empty, Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { CodeView } from "./code-view";
import type { SourceFile } from "./file-changes";
import { FileTree } from "./file-tree";
import { linesOf } from "./line-diff";
import { downloadOf, files, fileText, useVersions } from "./queries";

export function SourcePage() {
  const { model = "", version = "", project = "" } = useParams({ strict: false });
  const [{ file = "", line }, change] = useView<"file" | "line">();
  const { data: facts } = useQuery(ask.model(model));
  const { versions, isLoading } = useVersions(model, version);
  const listed = useQuery(files(model, version));
  const read = useQuery(fileText(model, version, file));
  const at = versions.findIndex((one) => one.version_id === version);
  const [own, before] = [versions[at], versions[at + 1]];
  const name = own ? `v${own.version}` : "Version";
  useTitle(`Source of ${name}`, facts?.name);
  const path = file || read.data?.path || "";
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2">
        <div className="min-w-0">
          <h2 className="text-lg">Source of {name}</h2>
          {isLoading && <p className="skeleton h-5 w-40" />}
          {own?.description && (
            <p dir="auto" className="text-left text-soft [overflow-wrap:anywhere]">
              {own.description}
            </p>
          )}
        </div>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <VersionSelect model={model} project={project} version={version} />
          {before && (
            <Link
              className="link"
              to="/$project/$model/versions/compare"
              params={{ project, model }}
              search={{ before: before.version_id, now: version }}
            >
              Changes since v{before.version}
            </Link>
          )}
          <a className="link" href={`/api/models/${model}/versions/${version}/archive`} download>
            Download all
          </a>
        </div>
      </div>
      {listed.error ? (
        <Failed error={listed.error} retry={() => void listed.refetch()} />
      ) : !listed.data ? (
        <Panel>
          <Skeleton rows={8} />
        </Panel>
      ) : (
        <div className="grid items-start gap-4 lg:grid-cols-[18rem_minmax(0,1fr)]">
          <Panel title="Files" note={integer(listed.data.length)} flush>
            <FileTree
              key={version}
              files={listed.data}
              read={path}
              choose={(chosen) => change({ file: chosen, line: "" })}
            />
          </Panel>
          <OpenFile
            address={downloadOf(model, version, path)}
            path={path}
            known={listed.data.find((one) => one.path === path)}
            read={read}
            line={Number(line) || null}
            choose={(number) => change({ file: path, line: String(number) })}
          />
        </div>
      )}
    </div>
  );
}

function VersionSelect({
  model,
  project,
  version,
}: {
  model: string;
  project: string;
  version: string;
}) {
  const { versions } = useVersions(model, version);
  const [{ file }] = useView<"file">();
  if (versions.length < 2) return null;
  return (
    <nav aria-label="Versions" className="flex max-w-full gap-1 overflow-x-auto">
      {near(versions, version).map((one) => (
        <Link
          key={one.version_id}
          to="/$project/$model/versions/$version"
          params={{ project, model, version: one.version_id }}
          search={file ? { file } : {}}
          aria-current={one.version_id === version ? "page" : undefined}
          className={`num rounded-md px-2 py-0.5 hover:bg-hover ${one.version_id === version ? "bg-hover font-medium" : "text-soft"}`}
        >
          v{one.version}
        </Link>
      ))}
    </nav>
  );
}

/** A few versions around the one that is shown. */
function near(versions: readonly ask.Version[], id: string): readonly ask.Version[] {
  const at = Math.max(
    0,
    versions.findIndex((one) => one.version_id === id),
  );
  return versions.slice(Math.max(0, at - 2), at + 3);
}

function OpenFile({
  address,
  path,
  known,
  read,
  line,
  choose,
}: {
  address: string;
  path: string;
  known: SourceFile | undefined;
  read: {
    data?: { text: string | null; is_text: boolean; is_exact: boolean; size: number } | undefined;
    error: unknown;
    refetch: () => unknown;
  };
  line: number | null;
  choose: (line: number) => void;
}) {
  const { data } = read;
  const text = data?.text;
  return (
    <Panel
      flush
      title={<bdi className="font-mono text-sm [overflow-wrap:anywhere]">{path || "…"}</bdi>}
      aside={
        data && (
          <div className="flex flex-wrap items-center gap-x-4 text-sm">
            <span className="num text-soft">
              {text != null && `${plural(linesOf(text).length, "line")} · `}
              {bytes(data.size)}
              {known?.is_executable && " · executable"}
            </span>
            <a className="link" href={address} download>
              Download
              <span className="sr-only"> {path}</span>
            </a>
            {text != null && <CopyButton text={text} label="Copy the file" />}
          </div>
        )
      }
    >
      {read.error ? (
        <Failed error={read.error} retry={() => void read.refetch()} />
      ) : !data ? (
        <Skeleton rows={8} />
      ) : text == null ? (
        <Empty title={data.is_text ? "Too large to show" : "Not a text file"}>
          {data.is_text
            ? `It has ${bytes(data.size)}; files of up to 1 MB are shown here. Download it to read it.`
            : `It has ${bytes(data.size)} that are not text. Download it to open it.`}
        </Empty>
      ) : (
        <>
          {!data.is_exact && (
            <Notice tone="warn">
              Some bytes of this file are not valid UTF-8. They are shown as �.
            </Notice>
          )}
          <CodeView path={path} text={text} line={line} choose={choose} />
        </>
      )}
    </Panel>
  );
}
