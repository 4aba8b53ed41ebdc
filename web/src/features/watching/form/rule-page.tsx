/** A new rule, or one that is changed: the form, and what it would have found in the last 30 days. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { isMissing } from "~/api/problem";
import * as ask from "~/api/queries";
import { useTitle } from "~/ui/address";
import { Button } from "~/ui/button";
import { NotFound } from "~/ui/page-error";
import { Failed, Notice, PageHead, Panel, Skeleton } from "~/ui/panel";
import { notify } from "~/ui/toasts";
import { conditions, type Rule, rule, watchingKey } from "../queries";
import { inForm, isAtField, mistakesOf } from "./checks";
import { bodyOf, type Draft, draftOf, EMPTY, lacking } from "./draft";
import { RuleFields } from "./rule-fields";
import { RulePreview, usePreview } from "./rule-preview";

export function NewRulePage() {
  const { project = "" } = useParams({ strict: false });
  const { model = "" }: { model?: string } = useSearch({ strict: false });
  return <Page key={project} project={project} kept={null} begin={{ ...EMPTY, model }} />;
}

export function ChangeRulePage() {
  const { project = "", rule: id = "" } = useParams({ strict: false });
  const { data, error, refetch } = useQuery({
    ...rule(project, id),
    // What somebody writes is not replaced while they write it.
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (isMissing(error)) return <NotFound />;
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={8} />;
  return <Page key={id} project={project} kept={data} begin={draftOf(data)} />;
}

function Page({ project, kept, begin }: { project: string; kept: Rule | null; begin: Draft }) {
  const known = useQuery(conditions);
  const models = useQuery(ask.models(project));
  useTitle(kept ? kept.name : "New rule");
  return (
    <div className="mx-auto max-w-6xl">
      <Link to="/$project/watching" params={{ project }} className="link text-sm">
        ← All rules
      </Link>
      <PageHead
        title={kept ? kept.name : "New rule"}
        lead={kept ? "Changes count at once" : "See what it would have found before you save it"}
      />
      {known.error ? (
        <Failed error={known.error} retry={() => void known.refetch()} />
      ) : !known.data || models.isPending ? (
        <Skeleton rows={8} />
      ) : (
        <Form
          project={project}
          kept={kept}
          begin={begin}
          known={known.data}
          models={models.data ?? []}
        />
      )}
    </div>
  );
}

function Form({
  project,
  kept,
  begin,
  known,
  models,
}: {
  project: string;
  kept: Rule | null;
  begin: Draft;
  known: { items: Parameters<typeof RuleFields>[0]["conditions"]; severities: readonly string[] };
  models: readonly { id: string; name: string }[];
}) {
  const [draft, setDraft] = useState(begin);
  const condition = known.items.find((one) => one.name === draft.condition);
  const missing = lacking(draft, condition);
  const save = useSaving(project, kept);
  const found = usePreview(project, draft, condition);
  const error = inForm(save.error ?? (missing ? null : found.error), condition);
  // What was said of the last attempt is not said of what is written now.
  const write = (next: Draft) => {
    if (save.isError) save.reset();
    setDraft(next);
  };
  return (
    <form
      className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!missing) save.mutate(bodyOf(draft, condition));
      }}
    >
      <Panel>
        <div className="grid gap-5">
          {kept?.source === "version" && (
            <Notice tone="info">
              This rule comes with the version of the model. It can be tightened here, not weakened.
            </Notice>
          )}
          <RuleFields
            project={project}
            draft={draft}
            change={(next) => write({ ...draft, ...next })}
            replace={write}
            conditions={known.items}
            severities={known.severities}
            models={models}
            isNew={kept === null}
            error={error}
            mistakes={condition ? mistakesOf(draft, condition) : {}}
          />
        </div>
      </Panel>
      <div className="grid gap-4 lg:sticky lg:top-4">
        <RulePreview
          models={models}
          draft={draft}
          condition={condition}
          missing={missing}
          found={found}
        />
        {save.error && !isAtField(error, condition) && <Failed error={error} />}
        <div className="flex flex-wrap items-center gap-3">
          <Button
            type="submit"
            weight="main"
            icon="check"
            disabled={missing !== null || save.isPending}
          >
            {kept ? "Save the rule" : "Add the rule"}
          </Button>
          {missing && <p className="text-soft">{missing}</p>}
        </div>
      </div>
    </form>
  );
}

function useSaving(project: string, kept: Rule | null) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    meta: { shown: true },
    mutationFn: (body: ReturnType<typeof bodyOf>) => {
      if (!kept)
        return unwrap(
          api.POST("/api/projects/{project}/rules", { params: { path: { project } }, body }),
        );
      const { model_id: _, ...change } = body;
      return unwrap(
        api.PATCH("/api/rules/{rule}", {
          params: { path: { rule: kept.rule_id } },
          body: { ...change, do: change.do ?? [] },
        }),
      );
    },
    onSuccess: async ({ name }) => {
      notify({ tone: "good", text: `${name} watches now.` });
      await queries.invalidateQueries({ queryKey: watchingKey(project) });
      await navigate({ to: "/$project/watching", params: { project } });
    },
  });
}
