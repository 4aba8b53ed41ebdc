/** Set-up for component tests: matchers, and a clean page after each test. */
import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// A busy machine is no failure.
configure({ asyncUtilTimeout: 60_000 });

afterEach(cleanup);
