import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: (process.env["AGENTS_SUITES"] ?? "work,failures,compacting,setup,operating,mcp,libraries,company")
      .split(",")
      .map((suite) => `test/agents/${suite}.suite.ts`),
    pool: "forks",
    poolOptions: { forks: { singleFork: true } },
    // One agent after the other; each has its own limit, which is shorter.
    testTimeout: 150_000,
    hookTimeout: 60_000,
    reporters: ["dot"],
    disableConsoleIntercept: true
  }
})
