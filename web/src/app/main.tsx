/** The entry point: one query cache, one router, one root element. */
import { MutationCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { messageOf, Problem } from "~/api/problem";
import { notify } from "~/ui/toasts";
import { register } from "./installed";
import { makeRouter } from "./router";
import "./styles.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The stream reports stale data, so only what is on no tape is polled.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < 2 && !(error instanceof Problem && error.status < 500),
    },
  },
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, mutation) => {
      if (!mutation.meta?.shown) notify({ tone: "bad", text: messageOf(error) });
    },
  }),
});

// After a server upgrade, parts that were not loaded yet have other names.
addEventListener("vite:preloadError", () => location.reload());

const router = makeRouter(queries);
register((path) => void router.navigate({ href: path }));

const place = document.getElementById("app");
if (!place) throw new Error("The page has no element for the app.");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
