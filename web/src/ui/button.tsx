/** Buttons, and links that look like buttons. */
import { Link, type LinkComponentProps } from "@tanstack/react-router";
import type { ButtonHTMLAttributes } from "react";
import { Icon, type IconName } from "./icons";

export type Weight = "main" | "quiet" | "bare" | "danger";

const WEIGHTS: Record<Weight, string> = {
  main: "bg-accent text-on-accent hover:bg-accent-over font-medium",
  quiet: "border border-edge bg-surface text-ink hover:bg-hover",
  bare: "text-soft hover:bg-hover hover:text-ink",
  danger: "border border-bad text-bad bg-surface hover:bg-bad-ground font-medium",
};
const SHAPE =
  "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md px-3 min-h-8 whitespace-nowrap transition-colors disabled:opacity-50 disabled:pointer-events-none";

interface Looks {
  weight?: Weight;
  icon?: IconName;
}

export function Button({
  weight = "quiet",
  icon,
  className = "",
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & Looks) {
  return (
    <button type="button" className={`${SHAPE} ${WEIGHTS[weight]} ${className}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that shows only an icon; the label is its accessible name. */
export function IconButton({
  label,
  icon,
  className = "",
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { label: string; icon: IconName }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`inline-flex size-8 shrink-0 items-center justify-center rounded-md text-soft transition-colors hover:bg-hover hover:text-ink disabled:opacity-40 disabled:pointer-events-none ${className}`}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}

export function ButtonLink({
  weight = "quiet",
  icon,
  className = "",
  children,
  ...rest
}: LinkComponentProps & Looks & { className?: string }) {
  return (
    <Link className={`${SHAPE} ${WEIGHTS[weight]} ${className}`} {...(rest as LinkComponentProps)}>
      {icon && <Icon name={icon} />}
      {children as React.ReactNode}
    </Link>
  );
}
