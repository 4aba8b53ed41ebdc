/** A project without models: three ways to add the first one, with commands to copy. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Schemas } from "~/api/client";
import { problemOf } from "~/api/problem";
import * as ask from "~/api/queries";
import { Button, ButtonLink } from "~/ui/button";
import { Command } from "~/ui/copy";
import { deployCommand, signInCommand } from "./commands";

export function FirstModel({ project, connect }: { project: string; connect: () => void }) {
  return (
    <div className="grid max-w-4xl gap-3">
      <p className="max-w-prose text-soft">
        This project has no models yet. A model is a folder with a Python script that trades, or any
        program that reports its orders. Choose how to start:
      </p>
      <Starter project={project} />
      <FromTerminal project={project} />
      <FromElsewhere connect={connect} />
    </div>
  );
}

function Way({
  number,
  title,
  children,
}: {
  number: number;
  title: string;
  children: React.ReactNode;
}) {
  return (
    <section className="grid min-w-0 grid-cols-[auto_minmax(0,1fr)] gap-x-3.5 gap-y-2 rounded-lg border border-line bg-surface p-4">
      <span
        aria-hidden="true"
        className="num flex size-6 items-center justify-center rounded-full bg-accent-ground text-sm font-semibold"
      >
        {number}
      </span>
      <div className="grid min-w-0 gap-3">
        <h2 className="text-lg">{title}</h2>
        {children}
      </div>
    </section>
  );
}

function Starter({ project }: { project: string }) {
  const { data: starters } = useQuery(ask.starters);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const deploy = useMutation({
    mutationFn: async (one: Schemas["StarterModel"]) => {
      const archive = await fetch(`/model/starter-models/${one.shortName}.zip`);
      if (!archive.ok) throw await problemOf(archive);
      const form = new FormData();
      form.set("projectId", project);
      form.set("createNew", "true");
      form.set("name", one.shortName);
      form.set("model", await archive.blob(), `${one.shortName}.zip`);
      const answer = await fetch("/model/deploy", { method: "POST", body: form });
      if (!answer.ok) throw await problemOf(answer);
      return (await answer.json()) as Schemas["Deployed"];
    },
    onSuccess: async ({ modelId }) => {
      await queries.invalidateQueries({ queryKey: ["project", project] });
      await navigate({ to: "/$project/$model/overview", params: { project, model: modelId } });
    },
  });
  return (
    <Way number={1} title="Deploy one now">
      <p className="text-soft">
        Upload your own zip, or start with a small model that trades on a simulated market. Each
        model runs in its own sandbox.
      </p>
      <div className="flex flex-wrap gap-2">
        <ButtonLink to="/$project/deploy" params={{ project }} weight="main" icon="upload">
          Upload a zip
        </ButtonLink>
        {starters?.map((one) => (
          <Button
            key={one.shortName}
            icon="play"
            disabled={deploy.isPending}
            onClick={() => deploy.mutate(one)}
          >
            Try {one.shortName}
          </Button>
        ))}
      </div>
    </Way>
  );
}

function FromTerminal({ project }: { project: string }) {
  const { data: me } = useQuery(ask.me);
  const address = location.origin;
  return (
    <Way number={2} title="From your terminal">
      <p className="text-soft">
        Sign in once; the answer holds an <code className="font-mono text-xs">idToken</code> that
        works for an hour. Then send the folder <code className="font-mono text-xs">model/</code>{" "}
        with its <code className="font-mono text-xs">platform.json</code>.
      </p>
      <Command label="sign in" text={signInCommand(address, me?.email ?? "you@example.com")} />
      <Command label="deploy" text={deployCommand(address, project)} />
    </Way>
  );
}

function FromElsewhere({ connect }: { connect: () => void }) {
  return (
    <Way number={3} title="Report from a model that runs elsewhere">
      <p className="text-soft">
        Let it report here: any language that can send a request will do. We make a model and a key,
        and fill them in.
      </p>
      <Button icon="key" className="justify-self-start" onClick={connect}>
        Connect a model
      </Button>
    </Way>
  );
}
