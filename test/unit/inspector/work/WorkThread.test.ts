import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { gzipSync } from "node:zlib"
import { bufferOf } from "../../../../src/observe/inspector/Intake.ts"
import { perform, type Task } from "../../../../src/observe/inspector/work/Work.ts"
import { makeWorkThread, usualThreadLimits } from "../../../../src/observe/inspector/work/WorkThread.ts"
import * as Timers from "../../../../src/platform/Timers.ts"
import { bodyThread } from "../../../support/BodyThread.ts"
import { eventually } from "../../../support/eventually.ts"
import { coreOf, shapedSecrets } from "../../../support/KindsOfSecrets.ts"
import { modelTraffic } from "../../../support/ModelTraffic.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

const limits = { maskSecrets: true, maxShownBytes: 500_000, maxDecodedBytes: 4_000_000 }
const body = (value: object | string, contentType = "application/json") => {
  const bytes = gzipSync(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)))
  return { bytes, size: bytes.length, contentEncoding: "gzip", contentType }
}

const taskOf = ({ answer, host, path, request }: (typeof modelTraffic)[number]): Task => ({
  request: { host, path, userAgent: "", body: body({ ...request, metadata: { note: shapedSecrets["anthropic"] } }) },
  response: { path, provider: null, body: body(answer), facts: null },
  limits
})

const plain = (report: Awaited<ReturnType<typeof perform>> | null) => ({
  ...report,
  request: { ...report?.request, shown: bufferOf(report?.request?.shown)?.toString() },
  response: { ...report?.response, shown: bufferOf(report?.response?.shown)?.toString() }
})

const started = (
  file: URL,
  over: Partial<typeof usualThreadLimits> = {},
  timers: Pick<typeof Timers.make, "after"> = Timers.make
) =>
  Effect.acquireRelease(
    Effect.sync(() => makeWorkThread(timers, { ...usualThreadLimits, ...over }, file)),
    (thread) => Effect.sync(() => thread.close())
  )

/** Timers that run when the test says so. */
const byHand = () => {
  const waiting = new Map<number, () => void>()
  return {
    after: (delayMs: number, run: () => void) => {
      waiting.set(delayMs, run)
      return { restart: () => {}, cancel: () => {} }
    },
    run: (delayMs: number) => waiting.get(delayMs)?.()
  }
}

/** A thread that does with each job what the code says. */
const threadOf = (code: string) =>
  Effect.map(temporaryFolder, (folder) => {
    const file = join(folder, "thread.mjs")
    writeFileSync(
      file,
      `import { parentPort } from "node:worker_threads"\nparentPort.on("message", ({ id, jobs }) => { ${code} })\n`
    )
    return pathToFileURL(file)
  })

describe("the thread for bodies", () => {
  it.scopedLive("does what is done without it, and shows no secret", () =>
    Effect.gen(function* () {
      // A machine that is busy may take longer than a job may: here none ends by time.
      const thread = yield* started(yield* bodyThread, {}, byHand())
      for (const traffic of modelTraffic) {
        const task = taskOf(traffic)
        const report = yield* Effect.promise(() => thread.run({ kind: "task", task }))
        assert.isTrue(thread.isRunning())
        assert.deepStrictEqual(plain(report), plain(yield* Effect.promise(() => perform(task))), traffic.apiKind)
        assert.notInclude(JSON.stringify(plain(report)), coreOf(shapedSecrets["anthropic"] ?? ""))
        assert.strictEqual(report?.request?.facts?.apiKind, traffic.apiKind)
      }
      const har = yield* Effect.promise(() => thread.run({ kind: "har", bytes: Buffer.from("no archive") }))
      assert.deepStrictEqual(har, { problem: { reason: "malformed", message: "The file: expected JSON" } })
      assert.isNull(yield* Effect.promise(() => thread.run({ kind: "owner", socket: { localPort: 1, remotePort: 2 } })))
    })
  )

  it.scopedLive("starts with the first job and ends when it was idle", () =>
    Effect.gen(function* () {
      const thread = yield* started(yield* threadOf("parentPort.postMessage({ id, reports: [null] })"), { idleMs: 1 })
      assert.isFalse(thread.isRunning())
      yield* Effect.promise(() => thread.run({ kind: "har", bytes: Buffer.alloc(1) }))
      yield* Effect.promise(() =>
        eventually(
          "the end of the thread",
          () => thread.isRunning(),
          (isRunning) => !isRunning
        )
      )
      assert.isNull(yield* Effect.promise(() => thread.run({ kind: "har", bytes: Buffer.alloc(1) })))
    })
  )

  it.scopedLive("gives up a job that kills it or takes too long, and does the next", () =>
    Effect.gen(function* () {
      const code =
        'if (jobs[0].kind === "owner") process.exit(1); else if (jobs[0].kind === "har") parentPort.postMessage({ id, reports: [{ exchanges: [] }] })'
      const timers = byHand()
      const thread = yield* started(yield* threadOf(code), { timeoutMs: 300 }, timers)
      const har = () => Effect.promise(() => thread.run({ kind: "har", bytes: Buffer.alloc(1) }))
      assert.deepStrictEqual(yield* har(), { exchanges: [] })
      assert.isNull(yield* Effect.promise(() => thread.run({ kind: "owner", socket: { localPort: 1, remotePort: 2 } })))
      assert.deepStrictEqual(yield* har(), { exchanges: [] })
      const stuck = thread.run({ kind: "task", task: { request: null, response: null, limits } })
      timers.run(300)
      assert.isNull(yield* Effect.promise(() => stuck))
      assert.deepStrictEqual(yield* har(), { exchanges: [] })
    })
  )

  it.scopedLive("does small jobs together, in their order, and large ones alone", () =>
    Effect.gen(function* () {
      // The report of each job says how many there were in its message.
      const code = "parentPort.postMessage({ id, reports: jobs.map((_, at) => ({ exchanges: [at, jobs.length] })) })"
      const thread = yield* started(yield* threadOf(code))
      const one = (size: number): Task => ({
        request: { host: "", path: "", userAgent: "", body: { ...body(""), bytes: Buffer.alloc(size) } },
        response: null,
        limits
      })
      const sizes = [1, 1, 2, 70_000, 3, 4]
      const told = yield* Effect.promise(() =>
        Promise.all(sizes.map((size) => thread.run({ kind: "task", task: one(size) })))
      )
      assert.deepStrictEqual(
        told.map((report) => (report as unknown as { readonly exchanges: ReadonlyArray<number> }).exchanges),
        [
          [0, 1],
          [0, 2],
          [1, 2],
          [0, 1],
          [0, 2],
          [1, 2]
        ]
      )
    })
  )

  it.scopedLive("works without a thread where it cannot start", () =>
    Effect.gen(function* () {
      const thread = yield* started(pathToFileURL("/nonexistent/thread.mjs"))
      const jobs = [0, 1, 2].map(() => thread.run({ kind: "har", bytes: Buffer.from("{}") }))
      for (const report of yield* Effect.promise(() => Promise.all(jobs))) {
        assert.deepStrictEqual(report, {
          problem: { reason: "malformed", message: "log: is missing, expected an object" }
        })
      }
    })
  )

  it.scopedLive("refuses what would wait beyond its limits, and all when it is closed", () =>
    Effect.gen(function* () {
      const thread = yield* started(yield* threadOf(""), { maxWaitingBytes: 100, maxWaitingJobs: 2 })
      const first = thread.run({ kind: "har", bytes: Buffer.alloc(90) })
      assert.isNull(yield* Effect.promise(() => thread.run({ kind: "har", bytes: Buffer.alloc(20) })))
      const second = thread.run({ kind: "har", bytes: Buffer.alloc(5) })
      const third = thread.run({ kind: "har", bytes: Buffer.alloc(1) })
      assert.isNull(yield* Effect.promise(() => thread.run({ kind: "har", bytes: Buffer.alloc(1) })))
      thread.close()
      assert.deepStrictEqual(yield* Effect.promise(() => Promise.all([first, second, third])), [null, null, null])
      assert.isNull(yield* Effect.promise(() => thread.run({ kind: "har", bytes: Buffer.alloc(1) })))
    })
  )
})
