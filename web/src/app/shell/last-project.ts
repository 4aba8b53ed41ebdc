/** The project to open by default: the last one visited, or else the first one with models. */
interface Mine {
  id: string;
  projects: { id: string; models: number }[];
}

const NAME = "tapeline.project";

export function rememberProject(id: string): void {
  try {
    localStorage.setItem(NAME, id);
  } catch {
    // Without storage, the next visit starts at the first project.
  }
}

export function lastProject(me: Mine): string {
  const own = me.projects;
  const last = own.find((one) => one.id === remembered());
  return (last ?? own.find((one) => one.models > 0) ?? { id: me.id }).id;
}

function remembered(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}
