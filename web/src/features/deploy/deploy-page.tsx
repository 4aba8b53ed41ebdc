/** Deploying from the browser: drop a zip, choose the options, and watch it start. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { Schemas } from "~/api/client";
import * as ask from "~/api/queries";
import { bytes, memory, percent } from "~/format/numbers";
import { useTitle } from "~/ui/address";
import { Button } from "~/ui/button";
import { about, SelectField, TextField } from "~/ui/field";
import { Failed, PageHead, Panel } from "~/ui/panel";
import { DropZone } from "./drop-zone";
import { Progress } from "./progress";
import { nameFrom, send } from "./upload";

export function DeployPage() {
  const { project = "" } = useParams({ strict: false });
  const { model } = useSearch({ strict: false });
  const [done, setDone] = useState<Schemas["Deployed"] | null>(null);
  useTitle("Deploy");
  return (
    <div className="mx-auto max-w-3xl">
      <PageHead
        title="Deploy a model"
        lead="Upload a zip with one folder, model/, that contains platform.json. That file names the script to run."
      />
      {done ? (
        <Progress deployed={done} again={() => setDone(null)} />
      ) : (
        <DeployForm key={project} project={project} model={model ?? ""} done={setDone} />
      )}
    </div>
  );
}

const FIELDS = ["name", "plan", "pythonVersion", "schedule"];

function DeployForm({
  project,
  model: chosen,
  done,
}: {
  project: string;
  model: string;
  done: (deployed: Schemas["Deployed"]) => void;
}) {
  const { data: models } = useQuery(ask.models(project));
  const { data: plans } = useQuery(ask.plans);
  const { data: pythons } = useQuery(ask.pythons);
  const queries = useQueryClient();
  const [archive, setArchive] = useState<File | null>(null);
  const [model, setModel] = useState(chosen);
  const [name, setName] = useState("");
  const [plan, setPlan] = useState("");
  const [python, setPython] = useState("");
  const [description, setDescription] = useState("");
  const [schedule, setSchedule] = useState("");
  const [sent, setSent] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);

  function choose(file: File | null) {
    setArchive(file);
    setError(null); // it was about the file before
  }
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!archive) return;
    setError(null);
    setSent(0);
    try {
      const target = model ? { id: model } : { name: name || nameFrom(archive) };
      const deployed = await send(
        { project, model: target, archive, plan, python, description, schedule },
        setSent,
      );
      await queries.invalidateQueries({ queryKey: ["project", project] });
      done(deployed);
    } catch (problem) {
      setError(problem);
    } finally {
      setSent(null);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Panel>
        <div className="grid gap-4">
          <DropZone archive={archive} choose={choose} />
          {error !== null && !about(error, ...FIELDS) && <Failed error={error} />}
          <div className="grid gap-4 sm:grid-cols-2">
            <SelectField
              label="Model"
              value={model}
              onChange={(event) => setModel(event.target.value)}
            >
              <option value="">New model</option>
              {models?.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </SelectField>
            {model ? (
              <TextField
                label="What changed in this version"
                hint="optional"
                value={description}
                onChange={(event) => setDescription(event.target.value)}
              />
            ) : (
              <TextField
                label="Name"
                value={name}
                maxLength={120}
                placeholder={archive ? nameFrom(archive) : "Moving average"}
                onChange={(event) => setName(event.target.value)}
                error={about(error, "name")}
              />
            )}
            <SelectField
              label="Plan"
              value={plan}
              onChange={(event) => setPlan(event.target.value)}
              error={about(error, "plan")}
            >
              <option value="">From the archive</option>
              {Object.entries(plans ?? {}).map(([one, size]) => (
                <option key={one} value={one}>
                  {one}: {memory(size.ram)}, {size.cpu / 1000} cores
                </option>
              ))}
            </SelectField>
            <SelectField
              label="Python"
              value={python}
              onChange={(event) => setPython(event.target.value)}
              error={about(error, "pythonVersion")}
            >
              <option value="">From the archive</option>
              {pythons?.map((one) => (
                <option key={one.version} value={one.version}>
                  {one.version} ({one.release})
                </option>
              ))}
            </SelectField>
            <TextField
              label="Schedule"
              hint="for a screener, in UTC"
              placeholder="30 14 * * 1-5"
              value={schedule}
              onChange={(event) => setSchedule(event.target.value)}
              error={about(error, "schedule")}
            />
          </div>
          <div className="flex flex-wrap items-center gap-3">
            <Button type="submit" weight="main" icon="upload" disabled={!archive || sent !== null}>
              {sent === null ? "Deploy" : sent < 1 ? `Uploading ${percent(sent)}` : "Checking…"}
            </Button>
            {archive && <span className="num text-soft">{bytes(archive.size)}</span>}
            {model && (
              <span className="text-soft">
                The running version stops before the new one starts.
              </span>
            )}
          </div>
        </div>
      </Panel>
    </form>
  );
}
