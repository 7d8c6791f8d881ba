/** Started by run.mjs, in a network namespace. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/native/**/*.suite.ts"],
    pool: "forks",
    // They share the namespace's firewall.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
