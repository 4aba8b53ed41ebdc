/** A form for a name and a description. */
import { type ReactNode, useState } from "react";
import { Button } from "./button";
import { about, LongTextField, TextField } from "./field";
import { Failed } from "./panel";

export interface Names {
  name: string;
  description: string;
}

interface Saving {
  mutate(names: Names): void;
  error: Error | null;
  isPending: boolean;
}

export function NamesForm({
  known = { name: "", description: "" },
  saving,
  hint,
  children,
}: {
  known?: Names;
  saving: Saving;
  hint?: string;
  /** The text of the button. */
  children: ReactNode;
}) {
  const [name, setName] = useState(known.name);
  const [description, setDescription] = useState(known.description);
  const { error } = saving;
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate({ name, description });
      }}
    >
      <TextField
        label="Name"
        value={name}
        required
        maxLength={120}
        onChange={(event) => setName(event.target.value)}
        error={about(error, "name")}
      />
      <LongTextField
        label="Description"
        hint={hint}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
        error={about(error, "description", "general_description")}
      />
      {error && !about(error, "name", "description", "general_description") && (
        <Failed error={error} />
      )}
      <Button
        type="submit"
        weight="main"
        className="justify-self-start"
        disabled={saving.isPending}
      >
        {children}
      </Button>
    </form>
  );
}
