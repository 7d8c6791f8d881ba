import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { dataFiles } from "../bin/dataFiles.mjs"
import { fuller, light, overPostgres, served, slow, whole } from "./parts.mjs"
import { useMemoryFolder } from "./support/memoryFolder.ts"
import { postgresInPlace } from "./support/postgres/inPlace.ts"
import { isPostgresThere, noPostgres } from "./support/postgres/Server.ts"

const run = `${process.pid}-${Date.now()}`
process.env["GATEWAY_TEST_RUN"] = run
useMemoryFolder()
const root = new URL("..", import.meta.url).pathname
/** `run.mjs` runs the tests in parts. The pool of processes takes its setting from here for all projects of a run. */
const part = process.env["TEST_PART"]

/** Two cores is what CI has. In one go there are files enough that wait for programs and for time. */
const forks = part === "all" ? 3 : 2

const isOverPostgres = isPostgresThere()
if (!isOverPostgres) process.stderr.write(`Tests of repositories over Postgres${noPostgres}\n`)

/**
 * Files that take long whatever their size: at the end one of them would keep a process busy while the other has nothing left. The first group takes
 * minutes each, the second up to one, the third starts programs.
 */
const longFirst = [
  /\/test\/(?:attack\/attack|cli\/skillExamples|faults\/nodes\/\w+|http\/live\/minute|unit\/store\/laws\/histories)\./,
  /\.slow\.test\.ts$|\/test\/(?:http\/doors\/(?:limits|routes)|property\/inference\/cachedAnswers|property\/ledger\/\w+|unit\/cluster\/rows|unit\/store\/restore\/Restore|unit\/wire\/json\/outline\/\w+)\./,
  /\/test\/(?:attack|cli|docs|faults)\//
]

class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const groupOf = ({ moduleId }: TestSpecification): number => {
      const group = longFirst.findIndex((pattern) => pattern.test(moduleId))
      return group === -1 ? longFirst.length : group
    }
    return (await super.sort(files)).toSorted((one, other) => groupOf(one) - groupOf(other))
  }
}

const common = {
  root,
  // Room for a machine that has other work, too.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  setupFiles: ["test/support/cost.setup.ts", "test/support/ownFile.setup.ts"],
  // The name of this run, for what its files share.
  env: { GATEWAY_TEST_RUN: run }
}

export default defineConfig({
  test: {
    root,
    globalSetup: ["test/cli/built.setup.ts", "test/support/postgres/server.setup.ts"],
    sequence: { sequencer: LongFirst },
    poolOptions: {
      threads: { isolate: false, minThreads: 2, maxThreads: 2 },
      // A gateway is built and dropped by each test: with a larger young generation less of it is copied. Where there are more processes than the fewest,
      // one without work is ended, and its end may fail the run ("Terminating worker thread").
      forks: {
        execArgv: ["--max-semi-space-size=32"],
        isolate: part === "whole",
        minForks: forks,
        maxForks: forks
      }
    },
    projects: [
      {
        plugins: [dataFiles],
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
        plugins: [dataFiles],
        test: {
          ...common,
          name: "served",
          include: served,
          // As above, and not in threads: these look at what their process has open, set its variables and change its folder.
          pool: "forks",
          sequence: { groupOrder: 1 }
        }
      },
      {
        plugins: [dataFiles],
        test: { ...common, name: "whole", include: whole, pool: "forks", sequence: { groupOrder: 2 } }
      },
      {
        plugins: [dataFiles, postgresInPlace],
        test: {
          ...common,
          name: "postgres",
          include: isOverPostgres ? overPostgres : [],
          pool: "forks",
          sequence: { groupOrder: 4 }
        }
      },
      {
        plugins: [dataFiles],
        test: {
          ...common,
          name: "slow",
          include: part === "slow" ? [...slow, ...fuller] : slow,
          pool: "forks",
          sequence: { groupOrder: 3 }
        }
      }
    ]
  }
})
