/** Real proxies in network namespaces: needs root on Linux and the programs of `Prerequisites.ts`; skipped without them. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/network/**/*.suite.ts"],
    pool: "forks",
    // Serially: packet counters and open sockets belong to one case at a time.
    poolOptions: { forks: { singleFork: true } },
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
