import { defineConfig } from "vitest/config"
import { light, served } from "./parts.mjs"
import { useMemoryFolder } from "./support/memoryFolder.ts"

const run = `${process.pid}-${Date.now()}`
process.env["GATEWAY_TEST_RUN"] = run
useMemoryFolder()
const root = new URL("..", import.meta.url).pathname
/** `run.mjs` runs the tests in two parts. The pool of processes takes this setting from here for all projects of a run. */
const isolate = process.env["TEST_PART"] !== "shared"

const common = {
  root,
  testTimeout: 20_000,
  hookTimeout: 30_000,
  // The name of this run, for what its files share.
  env: { GATEWAY_TEST_RUN: run }
}

export default defineConfig({
  test: {
    root,
    globalSetup: ["test/cli/built.setup.ts"],
    // Two cores is what CI has.
    poolOptions: {
      threads: { isolate: false, minThreads: 1, maxThreads: 2 },
      forks: { isolate, minForks: 1, maxForks: 2 }
    },
    projects: [
      {
        test: {
          ...common,
          name: "light",
          include: light,
          // One after the other in the same modules: to import them anew for each file takes longer than its tests.
          pool: "threads",
          sequence: { groupOrder: 0 }
        }
      },
      {
        test: {
          ...common,
          name: "served",
          include: served,
          // As above, and not in threads: these look at what their process has open.
          pool: "forks",
          poolOptions: { forks: { isolate: false } },
          sequence: { groupOrder: 1 }
        }
      },
      {
        test: {
          ...common,
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: [...light, ...served],
          // What starts processes, or shares a layer, has a process of its own.
          pool: "forks",
          sequence: { groupOrder: 2 }
        }
      }
    ]
  }
})
