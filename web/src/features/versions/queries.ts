/** The source of versions. An upload never changes, so nothing is asked for twice. */
import { infiniteQueryOptions, queryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, unwrap } from "~/api/client";
import * as ask from "~/api/queries";

const FOR_EVER = Number.POSITIVE_INFINITY;

export const files = (model: string, version: string) =>
  queryOptions({
    queryKey: ["source", model, version],
    staleTime: FOR_EVER,
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/models/{model}/versions/{version}/files", {
            params: { path: { model, version } },
            signal,
          }),
        )
      ).items,
  });

/** One file as text; the main script if no path is given. */
export const fileText = (model: string, version: string, path: string) =>
  queryOptions({
    queryKey: ["source", model, version, path],
    staleTime: FOR_EVER,
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/models/{model}/versions/{version}/files/text", {
          params: { path: { model, version }, query: path ? { path } : {} },
          signal,
        }),
      ),
  });

export function downloadOf(model: string, version: string, path: string): string {
  const asked = new URLSearchParams({ path });
  return `/api/models/${model}/versions/${version}/files/content?${asked}`;
}

/** The versions of a model, newest first, loaded until those that an address names are among them. */
export function useVersions(model: string, ...wanted: (string | undefined)[]) {
  const found = useInfiniteQuery(infiniteQueryOptions(ask.versions(model)));
  const versions = found.data?.pages.flatMap((page) => page.items) ?? [];
  const isMissing = wanted.some((id) => id && !versions.some((one) => one.version_id === id));
  const { hasNextPage, isFetching, fetchNextPage } = found;
  useEffect(() => {
    if (isMissing && hasNextPage && !isFetching) void fetchNextPage();
  }, [isMissing, hasNextPage, isFetching, fetchNextPage]);
  return { versions, error: found.error, isLoading: found.isPending || (isMissing && hasNextPage) };
}
