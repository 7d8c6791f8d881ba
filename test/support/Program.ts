/** The built program as a child process with a throw-away data folder: for what only the whole program can show. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dropStoreOf, isOverPostgres, storeOf } from "./postgres/Programs.ts"

const root = new URL("../..", import.meta.url).pathname
const launcher = join(root, "bin/gateway")

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Program {
  readonly url: string
  /** Id of the process itself. */
  readonly pid: number
  readonly dataDir: string
  readonly stdout: () => string
  readonly stderr: () => string
  readonly signal: (signal: NodeJS.Signals) => void
  /** Resolves when the process has ended. */
  readonly ended: Promise<Ended>
  /** SIGTERM, and wait. */
  readonly stop: Effect.Effect<Ended>
}

/** A plain checkout is built by its installation; one whose dist was removed is built here. */
const build = Effect.sync(() => {
  if (!existsSync(join(root, "dist/main.cjs"))) execFileSync(process.execPath, [join(root, "bin/build.mjs")])
})

export const dataFolder: Effect.Effect<string, never, Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-program-"))),
  (folder) =>
    Effect.promise(async () => {
      await dropStoreOf(folder)
      rmSync(folder, { recursive: true, force: true })
    })
)

const running = new Set<ChildProcess>()

// What is started for all tests of a file, or hangs beyond the time of its test, ends with the process of the tests.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

const watch = (child: ChildProcess) => {
  running.add(child)
  child.once("close", () => running.delete(child))
  let stdout = ""
  let stderr = ""
  child.stdout?.on("data", (chunk) => (stdout += chunk))
  child.stderr?.on("data", (chunk) => (stderr += chunk))
  const ended = new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })))
  return { stdout: () => stdout, stderr: () => stderr, ended }
}

/** Runs the suites of programs over this many workers, as in `WORKERS=4 npm run attack`; undefined: over one process. */
export const workers = process.env["WORKERS"]

/** Tells whether suites that also run within the test's process are to start the program. */
export const isAsked = workers !== undefined || isOverPostgres

const environment = async (dataDir: string, more: Readonly<Record<string, string>>): Promise<NodeJS.ProcessEnv> => ({
  PATH: process.env["PATH"],
  DATA_DIR: dataDir,
  GATEWAY_ENV_CONNECTIONS: "false",
  GATEWAY_DRAIN_SECONDS: "5",
  ...(workers === undefined ? {} : { GATEWAY_WORKERS: workers }),
  ...(await storeOf(dataDir)),
  ...more
})

/** Runs a command to its end. */
export const run = (
  argv: ReadonlyArray<string>,
  dataDir: string,
  env: Readonly<Record<string, string>> = {}
): Effect.Effect<Ended> =>
  Effect.zipRight(
    build,
    Effect.promise(
      async () =>
        watch(spawn(launcher, argv, { env: await environment(dataDir, env), stdio: ["ignore", "pipe", "pipe"] })).ended
    )
  )

/** Starts `serve` on a free port and waits until it listens. Killed with the scope when it is still there. */
export const start = (
  env: Readonly<Record<string, string>> = {},
  folder?: string,
  args: ReadonlyArray<string> = []
): Effect.Effect<Program, never, Scope> =>
  Effect.gen(function* () {
    yield* build
    const dataDir = folder ?? (yield* dataFolder)
    const variables = yield* Effect.promise(() => environment(dataDir, env))
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(launcher, ["serve", "--port", "0", "--no-open", ...args], {
          env: variables,
          stdio: ["ignore", "pipe", "pipe"]
        })
      ),
      (running) => Effect.sync(() => void running.kill("SIGKILL"))
    )
    const { ended, stderr, stdout } = watch(child)
    const url = yield* Effect.promise(
      () =>
        new Promise<string>((resolve, reject) => {
          child.stdout.on("data", () => {
            const found = /^Gateway listening on (\S+)$/m.exec(stdout())?.[1]
            if (found !== undefined) resolve(found)
          })
          void ended.then((end) => reject(new Error(`The program ended with ${end.code}: ${end.stderr}`)))
        })
    )
    const stop = Effect.promise(() => {
      child.kill("SIGTERM")
      return ended
    })
    return {
      url,
      pid: child.pid ?? 0,
      dataDir,
      stdout,
      stderr,
      signal: (signal) => void child.kill(signal),
      ended,
      stop
    }
  })
