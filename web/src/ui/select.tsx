/** A list to choose from that shows all of what is chosen, in several lines where it must: the browser's own
 * cuts it without a sign. */
import { type SelectHTMLAttributes, useLayoutEffect, useRef, useState } from "react";
import { Icon } from "./icons";

export function Select({
  className = "",
  children,
  onChange,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement>) {
  const own = useRef<HTMLSelectElement>(null);
  const [shown, setShown] = useState("");
  const look = () => setShown(own.current?.selectedOptions[0]?.text ?? "");
  // Options come and go without a change of the value, so every drawing looks.
  useLayoutEffect(look);
  return (
    <span
      className={`field inline-grid min-w-0 grid-cols-[minmax(0,auto)] p-0 has-focus-visible:border-accent has-focus-visible:outline-2 has-focus-visible:-outline-offset-1 has-focus-visible:outline-accent has-[select:disabled]:opacity-50 ${className}`}
    >
      <span
        aria-hidden="true"
        dir="auto"
        className="relative min-w-0 self-center py-1 pr-8 pl-2.5 text-left [grid-area:1/1] [overflow-wrap:anywhere]"
      >
        {shown}
        <Icon
          name="down"
          size={14}
          className="absolute top-1/2 right-2 -translate-y-1/2 text-soft"
        />
      </span>
      {/* In front and unseen: it takes the presses and the keys, and is as wide as its longest option. */}
      <select
        ref={own}
        className="max-w-full min-w-0 cursor-pointer pr-4 pl-2.5 opacity-0 [grid-area:1/1] disabled:cursor-default"
        onChange={(event) => {
          look();
          onChange?.(event);
        }}
        {...rest}
      >
        {children}
      </select>
    </span>
  );
}

/** What stands for it in the address, and what people read where that is another word. */
export type Option = string | readonly [value: string, name: string];

export function Choice({
  label,
  value,
  options,
  choose,
  className = "",
}: {
  label: string;
  value: string;
  options: readonly Option[];
  choose: (value: string) => void;
  className?: string;
}) {
  return (
    <Select
      aria-label={label}
      className={`w-auto ${className}`}
      value={value}
      onChange={({ target }) => choose(target.value)}
    >
      {options.map((option) => {
        const [one, name] = typeof option === "string" ? [option, option] : option;
        return (
          <option key={one} value={one}>
            {name}
          </option>
        );
      })}
    </Select>
  );
}
