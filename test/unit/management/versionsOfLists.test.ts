/** The version of a long list: the same whether it is read at once or in slices, and made of what an editor changes. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { contractOf } from "../../../src/contract/GroupContract.ts"
import { tagOf } from "../../../src/entry/management/Versions.ts"
import * as Slices from "../../../src/plane/resilience/Slices.ts"
import { Limits } from "../../../src/subjects/limits/routes.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import { slicedFromBytes } from "../../../src/wire/json/LargeBodies.ts"

const limitsOf = (count: number, change: (n: number) => object = () => ({})) =>
  HttpServerResponse.unsafeJson({
    limits: Array.from({ length: count }, (_, n) => ({
      id: `limit-${n}`,
      apiKeyId: `key-${n}`,
      scopeType: "provider",
      scopeValue: "openai",
      tokenLimit: 1_000,
      tokensUsed: n,
      tokensReserved: 0,
      remaining: 1_000 - n,
      ...change(n)
    })),
    apiKeyId: null
  })

const sizeOf = (response: HttpServerResponse.HttpServerResponse): number =>
  response.body._tag === "Uint8Array" ? response.body.body.length : 0

const tag = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.flatMap(Slices.Slices, (slices) => tagOf(slices, "limits.tokenLimits", response))

// What of an answer is observed is read from its contract.
contractOf(Limits)

const services = Layer.provide(Slices.layer, Timers.layer)

it.live("is of what is edited, of each entry, and of their number", () =>
  Effect.gen(function* () {
    for (const count of [3, 10_000]) {
      const list = limitsOf(count)
      assert.strictEqual(sizeOf(list) >= slicedFromBytes, count > 3)
      const first = yield* tag(list)
      const last = count - 1
      assert.strictEqual(
        yield* tag(limitsOf(count, (n) => (n === last ? { tokensUsed: 7, remaining: 993 } : {}))),
        first
      )
      assert.notStrictEqual(yield* tag(limitsOf(count, (n) => (n === last ? { tokenLimit: 7 } : {}))), first)
      assert.notStrictEqual(yield* tag(limitsOf(count, (n) => (n === 0 ? { id: "another" } : {}))), first)
      assert.notStrictEqual(yield* tag(limitsOf(last)), first)
    }
  }).pipe(Effect.provide(services))
)
