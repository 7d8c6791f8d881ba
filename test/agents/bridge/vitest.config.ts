/** Started by run.mjs, in namespaces. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: new URL("../../..", import.meta.url).pathname,
    include: ["test/agents/bridge/*.suite.ts"],
    pool: "forks",
    // They share the namespace.
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 60_000,
    disableConsoleIntercept: true
  }
})
