/** `gateway test` against a running gateway and a fake upstream. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, vi } from "vitest"
import * as Fake from "../support/FakeUpstream.ts"
import * as Gateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"

beforeAll(() => void vi.stubEnv("DATA_DIR", "/nonexistent"))
afterAll(() => vi.unstubAllEnvs())

const tested = (url: string, ...words: ReadonlyArray<string>) =>
  typed(["test", ...words, "--url", url, "--gateway-key", Gateway.adminKey])

describe("gateway test", () => {
  it.scopedLive("asks one question and shows the answer, who gave it, what it cost and why", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ text: "hello", usage: { in: 20, out: 100 } })))
      const gateway = yield* Gateway.start()
      yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
      yield* Effect.promise(() => gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } }))

      const { code, stderr, stdout } = yield* tested(gateway.url, "up/m", "--json")
      assert.strictEqual(code, 0, stderr)
      const result = JSON.parse(stdout)
      assert.deepInclude(result, { model: "up/m", status: 200, answer: "hello", error: null })
      assert.deepInclude(result.usage, { provider: "up", model: "m", costUsd: 0.00102 })
      assert.strictEqual(result.decision.requestId, result.requestId)
      assert.lengthOf(result.decision.attempts, 1)

      const shown = yield* tested(gateway.url)
      assert.strictEqual(shown.code, 0, shown.stderr)
      for (const part of ["auto", "hello", "up/m", "20 in, 100 out", "0.00102 USD"]) assert.include(shown.stdout, part)
    })
  )

  it.scopedLive("says what failed, with the attempts, and exits by the kind of failure", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.always(Fake.json({ error: { message: "it broke" } }, { status: 500 }))
      const gateway = yield* Gateway.start()
      yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
      const failed = yield* tested(gateway.url, "up/m")
      assert.strictEqual(failed.code, 1)
      assert.include(failed.stderr, "it broke")
      assert.include(failed.stdout, "http_500")
      const unknown = yield* tested(gateway.url, "no/such")
      assert.strictEqual(unknown.code, 2)
      assert.include(unknown.stderr, "does not exist")
      const gone = yield* tested("http://127.0.0.1:9", "up/m")
      assert.strictEqual(gone.code, 3)
    })
  )
})
