/** Uploads an archive and reports progress, which `fetch` cannot. */
import type { Schemas } from "~/api/client";
import { Problem, problemOf } from "~/api/problem";
import { session } from "~/api/session";

export interface Upload {
  project: string;
  /** An existing model, or the name of a new one. */
  model: { id: string } | { name: string };
  archive: File;
  plan: string;
  python: string;
  description: string;
  schedule: string;
}

export function formOf(upload: Upload): FormData {
  const form = new FormData();
  form.set("projectId", upload.project);
  if ("id" in upload.model) {
    form.set("modelId", upload.model.id);
  } else {
    form.set("createNew", "true");
    form.set("name", upload.model.name);
  }
  // The archive, or the model's last deployment, decides about options that were not chosen.
  const optional = {
    plan: upload.plan,
    pythonVersion: upload.python,
    versionDescription: upload.description,
    schedule: upload.schedule,
  };
  for (const [name, value] of Object.entries(optional)) if (value) form.set(name, value);
  form.set("model", upload.archive, upload.archive.name);
  return form;
}

export function send(
  upload: Upload,
  progress: (share: number) => void,
): Promise<Schemas["Deployed"]> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/model/deploy");
    request.setRequestHeader("Idempotency-Key", crypto.randomUUID?.() ?? String(Math.random()));
    request.upload.onprogress = ({ loaded, total }) => progress(total ? loaded / total : 0);
    request.onerror = () =>
      reject(
        new Problem(
          0,
          "unreachable",
          "The server cannot be reached. Check your connection and try again.",
        ),
      );
    request.onload = () => {
      if (request.status === 200) {
        resolve(JSON.parse(request.responseText) as Schemas["Deployed"]);
      } else {
        if (request.status === 401) void session.refused("POST");
        void problemOf(new Response(request.responseText, { status: request.status })).then(reject);
      }
    };
    request.send(formOf(upload));
  });
}

/** Why a file cannot be an archive, if it can be seen before the upload. */
export function problemWith(file: Pick<File, "name" | "size">): string | null {
  if (!/\.zip$/i.test(file.name))
    return `${file.name} is not a zip file. Zip the folder model/ with its platform.json.`;
  if (file.size === 0) return `${file.name} is empty.`;
  return file.size > 100_000_000
    ? `${file.name} is larger than 100 MB. Leave data and virtual environments out.`
    : null;
}

export function nameFrom(file: Pick<File, "name">): string {
  return file.name.replace(/\.zip$/i, "").slice(0, 120);
}
