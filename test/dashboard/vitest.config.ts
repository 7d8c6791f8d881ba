/** The dashboard in a real browser; apart from the other tests because it needs Chromium. */
import { defineConfig } from "vitest/config"

process.env["GATEWAY_TEST_RUN"] ??= `dashboard-${process.pid}`

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/dashboard/**/*.suite.ts"],
    pool: "forks",
    poolOptions: { forks: { minForks: 1, maxForks: 1 } },
    globalSetup: ["test/cli/built.setup.ts"],
    env: { GATEWAY_TEST_RUN: process.env["GATEWAY_TEST_RUN"] },
    testTimeout: 60_000,
    hookTimeout: 300_000
  }
})
