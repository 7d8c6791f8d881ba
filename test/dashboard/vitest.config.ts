/** The dashboard in a real browser; apart from the other tests because it needs Chromium. */
import { defineConfig } from "vitest/config"

process.env["GATEWAY_TEST_RUN"] ??= `dashboard-${process.pid}`

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/dashboard/**/*.suite.ts"],
    pool: "forks",
    // Two cores is what CI has. The suites of a process share their modules, and with them its Chromium.
    poolOptions: { forks: { isolate: false, minForks: 2, maxForks: 2 } },
    globalSetup: ["test/cli/built.setup.ts"],
    env: { GATEWAY_TEST_RUN: process.env["GATEWAY_TEST_RUN"] },
    testTimeout: 240_000,
    hookTimeout: 300_000
  }
})
