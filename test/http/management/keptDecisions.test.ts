/** Decisions after a restart, and the settings for them, on the whole service. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { temporaryFolder } from "../../unit/store/fixtures.ts"

const ask = { model: "up/m", messages: [{ role: "user", content: "Hi" }] }

/** A gateway that is asked once, after `prepare`, and the same one started again. */
const restarted = (prepare: (gateway: TestGateway.TestGateway) => Promise<void>) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion()))
    const scope = yield* Scope.make()
    const first = yield* Scope.extend(TestGateway.start({ dataDir }), scope)
    const { before, path } = yield* Effect.promise(async () => {
      await first.connect("up", upstream, "chat")
      await prepare(first)
      const response = await first.post("/v1/chat/completions", ask)
      await response.text()
      const place = `/api/routing/decisions/${response.headers.get("x-gateway-request-id") ?? ""}`
      return { path: place, before: await first.manage("GET", place) }
    })
    assert.strictEqual(before.decision.chosen, "up/m")
    yield* Scope.close(scope, Exit.void)
    return { before, path, gateway: yield* TestGateway.start({ dataDir }) }
  })

describe("a decision", () => {
  it.scopedLive("is answered after a restart as before it", () =>
    Effect.gen(function* () {
      const { before, gateway, path } = yield* restarted(async () => {})
      assert.deepStrictEqual(yield* Effect.promise(() => gateway.manage("GET", path)), before)
    })
  )

  it.scopedLive("is not kept where the settings say so", () =>
    Effect.gen(function* () {
      const { gateway, path } = yield* restarted(async (first) => {
        const settings = await first.manage("PATCH", "/api/settings", { decisions: { sampleRate: 0 } })
        assert.deepStrictEqual(settings.decisions, { retentionDays: 7, sampleRate: 0, maxRows: 100_000 })
      })
      const headers = { authorization: `Bearer ${TestGateway.adminKey}` }
      const gone = yield* Effect.promise(() => fetch(gateway.url + path, { headers }))
      assert.strictEqual(gone.status, 404)
    })
  )
})
