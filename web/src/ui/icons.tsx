/** Our own few icons, drawn on a grid of sixteen. They decorate: the name stands beside them. */
const PATHS = {
  chart: "M2 13h12M3.5 10.5l3-3.5 2.5 2 3.5-5",
  box: "M8 1.8 2.5 4.6v6.8L8 14.2l5.5-2.8V4.6L8 1.8zM2.7 4.7 8 7.4l5.3-2.7M8 7.4v6.6",
  upload: "M8 10.5v-8M4.8 5.4 8 2.2l3.2 3.2M2.5 10.5v2.2c0 .5.3.8.8.8h9.4c.5 0 .8-.3.8-.8v-2.2",
  people:
    "M6 7.3a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8zM1.8 13.3c0-2.2 1.9-3.8 4.2-3.8s4.2 1.6 4.2 3.8M10.6 2.9a2.3 2.3 0 0 1 0 4.2M11.8 9.8c1.5.5 2.4 1.8 2.4 3.5",
  key: "M10 9.8a3.9 3.9 0 1 0-3.7-2.7L2 11.4V14h2.6v-1.8h1.8v-1.8h1.5L8.900 9.5c.3.200.7.300 1.100.300zM11 5h.01",
  list: "M5.500 4h8M5.500 8h8M5.500 12h8M2.500 4h.01M2.500 8h.01M2.500 12h.01",
  gear: "M8 10.200a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400zM8 1.800v1.700M8 12.500v1.700M1.800 8h1.700M12.500 8h1.700M3.600 3.600l1.200 1.200M11.200 11.200l1.200 1.200M12.400 3.600l-1.200 1.200M4.800 11.200l-1.200 1.200",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.700 10.700 14 14",
  play: "M4.500 2.800v10.400L13 8 4.500 2.800z",
  stop: "M3.500 3.500h9v9h-9z",
  pause: "M5 3v10M11 3v10",
  copy: "M5.500 5.500v-3h8v8h-3M2.500 5.500h8v8h-8z",
  check: "M3 8.500 6.500 12 13 4.500",
  close: "M3.500 3.500l9 9M12.500 3.500l-9 9",
  down: "M4 6.200 8 10.200l4-4",
  right: "M6.200 4 10.200 8l-4 4",
  more: "M3.500 8h.01M8 8h.01M12.500 8h.01",
  menu: "M2 4h12M2 8h12M2 12h12",
  warn: "M8 2 1.500 13.500h13L8 2zM8 6.500v3.200M8 11.600h.01",
  download:
    "M8 2.200v8M4.800 7.200 8 10.400l3.200-3.200M2.500 11v2c0 .3.200.500.500.500h10c.300 0 .500-.200.500-.500v-2",
  grid: "M2.500 2.500h4.500v4.500H2.500zM9 2.500h4.500v4.500H9zM2.500 9h4.500v4.500H2.500zM9 9h4.500v4.500H9z",
  user: "M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8zM2.800 14c0-2.600 2.300-4.300 5.200-4.300s5.200 1.700 5.200 4.300",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.800V8l2.200 1.500",
  plus: "M8 3v10M3 8h10",
  book: "M8 4v9.500M8 4c-1-.9-2.700-1.300-5.500-1.300v9c2.800 0 4.500.400 5.500 1.800 1-1.400 2.700-1.800 5.500-1.800v-9C10.700 2.700 9 3.100 8 4z",
  restart: "M13 8a5 5 0 1 1-1.600-3.700M13 2.500v2.800h-2.800",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({
  name,
  size = 16,
  className,
}: {
  name: IconName;
  size?: number;
  className?: string;
}) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={className ? `shrink-0 ${className}` : "shrink-0"}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
