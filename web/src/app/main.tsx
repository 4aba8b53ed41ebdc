/** The beginning: one store of answers, one router, one page. */
import { MutationCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem, words } from "~/api/problem";
import { say } from "~/ui/toasts";
import { makeRouter } from "./router";
import "./styles.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The stream says what is stale; nothing asks again by itself.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < 2 && !(error instanceof Problem && error.status < 500),
    },
  },
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, mutation) => {
      if (!mutation.meta?.shown) say({ tone: "bad", text: words(error) });
    },
  }),
});

// After an upgrade of the server the parts that are not loaded yet have other names.
addEventListener("vite:preloadError", () => location.reload());

const place = document.getElementById("app");
if (!place) throw new Error("The shell has no place for the app.");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={makeRouter(queries)} />
    </QueryClientProvider>
  </StrictMode>,
);
