import { readdirSync, readFileSync } from "node:fs"
import { defineConfig } from "vitest/config"
import { useMemoryFolder } from "./support/memoryFolder.ts"

const run = `${process.pid}-${Date.now()}`
process.env["GATEWAY_TEST_RUN"] = run
useMemoryFolder()
const root = new URL("..", import.meta.url).pathname
/** `run.mjs` runs the tests in two parts. The pool of processes takes this setting from here for all projects of a run. */
const isolate = process.env["TEST_PART"] !== "shared"

/** `layer` of @effect/vitest puts its test clock in force for all files that share its modules. */
const sharesLayer = /import \{[^}]*\blayer\b[^}]*\} from "@effect\/vitest"|\bit\.layer\(/

const testsIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => `${folder}/${path}`)

/** It counts what its process has open: tests of other files in the same process would be counted, too. */
const countsOpenFiles = /\/proc\/self\/fd/

const sharesNothing = (path: string): boolean => {
  const text = readFileSync(`${root}${path}`, "utf8")
  return !sharesLayer.test(text) && !countsOpenFiles.test(text)
}

/** Without processes and sockets of their own. */
const light = [...testsIn("test/unit"), ...testsIn("test/property")].filter(sharesNothing)

/** With gateways in their own process, which they end. */
const served = [...testsIn("test/http"), ...testsIn("test/sdk")].filter(sharesNothing)

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
