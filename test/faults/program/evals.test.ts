/** A run of an evaluation and the end of the process: it keeps what it has, and is never under way for ever. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"

const adminKey = "admin-key-of-the-program-tests"
const environment = { GATEWAY_ADMIN_KEY: adminKey, GATEWAY_DRAIN_SECONDS: "1" }

const manage = async (program: Program.Program, method: string, path: string, body?: unknown) => {
  const response = await fetch(program.url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  assert.isTrue(response.ok, `${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

/** The first two questions are answered, the others never. */
const underWay = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.enqueue(Fake.json(Fake.chatCompletion()), Fake.json(Fake.chatCompletion()))
  upstream.always(Fake.hang())
  const program = yield* Program.start(environment)
  const id = yield* Effect.promise(async () => {
    const baseUrl = `${upstream.origin}/v1`
    await manage(program, "POST", "/api/provider-nodes", {
      name: "up",
      prefix: "up",
      type: "openai-compatible",
      baseUrl
    })
    await manage(program, "POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
    const target = { type: "model", id: "up/m" }
    const { run } = await manage(program, "POST", "/api/evals", { suiteId: "golden-set", target })
    await eventually(
      "two cases",
      () => manage(program, "GET", `/api/evals/runs/${run.id}`),
      (answer) => answer.run.cases.length === 2
    )
    return String(run.id)
  })
  return { program, id, upstream }
})

const ends: ReadonlyArray<readonly [title: string, signal: NodeJS.Signals]> = [
  ["kill -9", "SIGKILL"],
  ["a gentle stop", "SIGTERM"]
]

describe("a run that is under way", () => {
  for (const [title, signal] of ends) {
    it.scopedLive(`is failed after ${title}, with the cases it had and what they cost`, () =>
      Effect.gen(function* () {
        const { id, program } = yield* underWay
        const { code, stderr } = yield* Effect.promise(() => {
          program.signal(signal)
          return program.ended
        })
        if (signal === "SIGTERM") assert.strictEqual(code, 0, stderr)
        const again = yield* Program.start(environment, program.dataDir)
        yield* Effect.promise(async () => {
          const { run } = await manage(again, "GET", `/api/evals/runs/${id}`)
          assert.deepInclude(run, { status: "failed" })
          assert.include(run.reason, "stopped")
          assert.lengthOf(run.cases, 2)
          assert.deepInclude(run.summary, { total: 6, failed: 2 })
          assert.isString(run.finishedAt)
          for (const { requestId } of run.cases) {
            const { logs } = await manage(again, "GET", `/api/usage/logs?requestId=${requestId}`)
            assert.lengthOf(logs, 1)
          }
          const overview = await manage(again, "GET", "/api/evals")
          assert.deepEqual(overview.scorecard.targets, [])
        })
      })
    )
  }
})
