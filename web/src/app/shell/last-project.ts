/** Which project to show to whoever comes without saying: the last one, else the first with models. */
interface Mine {
  id: string;
  projects: { id: string; models: number }[];
}

const NAME = "tapeline.project";

export function rememberProject(id: string): void {
  try {
    localStorage.setItem(NAME, id);
  } catch {
    // A browser that keeps nothing: the next visit begins at the first project.
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
