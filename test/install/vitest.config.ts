/** The package as people install it; apart from the other tests because installing compiles the SQLite driver, which takes minutes. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/install/**/*.suite.ts"],
    pool: "forks",
    globalSetup: ["test/install/setup.ts"],
    testTimeout: 60_000
  }
})
