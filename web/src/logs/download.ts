/** The log as a file: what is searched for, page by page, oldest first. */
import { type Line, look, type Page } from "~/api/pending";
import type { LogQuery } from "./log-store";

const PAGE = 1000;
/** Beyond this a browser had better not hold it; the whole tape can be downloaded instead. */
const MOST_PAGES = 500;

export async function downloadLog(model: string, query: LogQuery): Promise<void> {
  const parts: string[] = [];
  let cursor: string | null = "0";
  for (let page = 0; cursor !== null && page < MOST_PAGES; page += 1) {
    const found: Page<Line> = await look<Page<Line>>(`/api/models/${model}/logs`, {
      ...query,
      limit: PAGE,
      after: 0,
      cursor,
    });
    parts.push(found.items.map(written).join(""));
    cursor = found.next;
  }
  save(`${model}.log`, new Blob(parts, { type: "text/plain" }));
}

function written({ time, type, line }: Line): string {
  return `${new Date(time * 1000).toISOString()} ${type} ${line}\n`;
}

function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
