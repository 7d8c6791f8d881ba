import { defineConfig } from "vitest/config"

const run = `${process.pid}-${Date.now()}`
process.env["GATEWAY_TEST_RUN"] = run

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/cli/built.setup.ts"],
    // The name of this run, for what its files share.
    env: { GATEWAY_TEST_RUN: run },
    // The SQLite addon and real sockets need their own process; two cores is what CI has.
    pool: "forks",
    poolOptions: { forks: { minForks: 1, maxForks: 2 } },
    testTimeout: 20_000,
    hookTimeout: 30_000
  }
})
