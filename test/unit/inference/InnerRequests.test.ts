/** On whose behalf the gateway asks: rights are judged where requests are made, and each says what it counts for. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type ApiKey, type EndpointCategory, unrestricted } from "../../../src/subjects/keys/entity.ts"
import type { InferenceError } from "../../../src/contract/domain/Errors.ts"
import type { InnerProblem } from "../../../src/subjects/auth/KeyPolicy.ts"
import { type Behalf, InnerRequests, layer } from "../../../src/plane/InnerRequests.ts"
import { countsWhole, type Exchange } from "../../../src/plane/request/Exchange.ts"
import * as InnerPipeline from "../../../src/plane/request/InnerPipeline.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import * as TestTimers from "../../support/TestTimers.ts"

const key = (settings: Partial<ApiKey>): ApiKey => ({
  ...unrestricted,
  name: "k",
  id: "id",
  prefix: "gw_",
  hash: "",
  oldSecrets: [],
  createdAtMs: 0,
  lastUsedAtMs: null,
  ...settings
})

const closed = { enabled: true, from: "00:00", until: "00:01", days: [], tz: "UTC" }

/** What came of a request: how it was served, or the error that it was refused with. */
const asked = (behalf: Behalf) =>
  Effect.gen(function* () {
    const door = yield* InnerPipeline.InnerPipeline
    let served: Exchange | null = null
    let refused: InferenceError | null = null
    door.attach({
      serve: (exchange, over) => {
        served = exchange
        exchange.reply.head(200, [])
        exchange.reply.end("{}")
        over()
      },
      refuse: ({ reply }, error) => {
        refused = error
        reply.head(403, [])
        reply.end("{}")
      }
    })
    const { status } = yield* (yield* InnerRequests).ask({ behalf, path: "/x", body: {} })
    return { status, served: served as Exchange | null, refused: refused as InferenceError | null }
  }).pipe(
    Effect.provide(layer.pipe(Layer.provideMerge(Layer.mergeAll(InnerPipeline.layer, IdGen.layer, TestTimers.layer))))
  )

const principalOf = (settings: Partial<ApiKey>) => ({ _tag: "Key", key: key(settings) }) as const

describe("an inner request", () => {
  it.effect(
    "is refused where its caller's key is over, closed or for something else, whatever its door has judged",
    () =>
      Effect.gen(function* () {
        for (const [settings, category, reason] of [
          [{ isActive: false }, "chat", "inactive"],
          [{ expiresAtMs: -1 }, "chat", "expired"],
          [{ accessSchedule: closed }, "chat", "schedule"],
          [{ allowedEndpoints: ["agents"] }, "chat", "endpoint"],
          [{ allowedEndpoints: ["agents", "chat"] }, "search", "endpoint"]
        ] satisfies ReadonlyArray<readonly [Partial<ApiKey>, EndpointCategory, InnerProblem]>) {
          for (const madeFor of ["client", "order"] as const) {
            const { refused, served, status } = yield* asked({ principal: principalOf(settings), madeFor, category })
            assert.deepInclude(refused, { _tag: "KeyRejected", reason })
            assert.isNull(served)
            assert.strictEqual(status, 403)
          }
        }
      })
  )

  it.effect("says what it counts for, and is served for a caller that may", () =>
    Effect.gen(function* () {
      const principal = principalOf({ allowedEndpoints: ["chat"], ipAllowlist: ["198.51.100.7"] })
      for (const [behalf, counts] of [
        [{ principal, madeFor: "client", category: "chat" }, true],
        [{ principal, madeFor: "order", category: "chat" }, true],
        // It serves another one, whose rights were judged: a vector for a question of a key for chats.
        [{ principal, madeFor: "aside" }, false],
        [{ principal: { _tag: "AdminKey" }, madeFor: "client", category: "agents" }, true]
      ] satisfies ReadonlyArray<readonly [Behalf, boolean]>) {
        const { served, status } = yield* asked(behalf)
        assert.strictEqual(status, 200)
        assert(served !== null)
        assert.strictEqual(served.madeFor, behalf.madeFor)
        assert.strictEqual(countsWhole(served), counts)
      }
    })
  )
})
