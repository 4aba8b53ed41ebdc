/** Labelled inputs. An error about a field is shown below it and read out with it. */
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { Problem } from "~/api/problem";
import { Select } from "./select";

interface Around {
  label: string;
  hint?: ReactNode;
  error?: string | null | undefined;
}

export function TextField({
  label,
  hint,
  error,
  className = "",
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & Around) {
  const id = useId();
  return (
    <Framed id={id} label={label} hint={hint} error={error} className={className}>
      <input id={id} className="field" {...described(id, hint, error)} {...rest} />
    </Framed>
  );
}

/** A text of several lines that is one paragraph: Enter sends the form. */
export function LongTextField({
  label,
  hint,
  error,
  className = "",
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & Around) {
  const id = useId();
  return (
    <Framed id={id} label={label} hint={hint} error={error} className={className}>
      <textarea
        id={id}
        rows={2}
        className="field block resize-none [field-sizing:content]"
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
        {...described(id, hint, error)}
        {...rest}
      />
    </Framed>
  );
}

export function SelectField({
  label,
  hint,
  error,
  className = "",
  children,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & Around) {
  const id = useId();
  return (
    <Framed id={id} label={label} hint={hint} error={error} className={className}>
      <Select id={id} className="w-full" {...described(id, hint, error)} {...rest}>
        {children}
      </Select>
    </Framed>
  );
}

/** The message of an error, if it is about one of these fields. */
export function about(error: unknown, ...fields: string[]): string | null {
  return error instanceof Problem && error.field !== null && fields.includes(error.field)
    ? error.message
    : null;
}

function Framed({
  id,
  label,
  hint,
  error,
  className,
  children,
}: Around & { id: string; className: string; children: ReactNode }) {
  return (
    <div className={`min-w-0 ${className}`}>
      <div className="mb-1 flex flex-wrap items-baseline justify-between gap-x-3">
        <label htmlFor={id} className="min-w-0 font-medium [overflow-wrap:anywhere]">
          {label}
        </label>
        {hint && (
          <span id={`${id}-hint`} className="text-sm text-soft">
            {hint}
          </span>
        )}
      </div>
      {children}
      {error && (
        <p id={`${id}-error`} className="mt-1 text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

function described(id: string, hint: ReactNode, error: string | null | undefined) {
  const ids = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return {
    ...(ids ? { "aria-describedby": ids } : {}),
    ...(error ? { "aria-invalid": true } : {}),
  };
}
