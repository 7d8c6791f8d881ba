/** A request is matched once, whichever plane it belongs to and whatever becomes of it. */
import { assert, describe, it } from "@effect/vitest"
import * as FindMyWay from "find-my-way-ts"
import * as Effect from "effect/Effect"
import { afterEach, vi } from "vitest"
import * as TestGateway from "../../support/TestGateway.ts"

/** Every router of the process, the framework's own included. */
const prototype: FindMyWay.Router<unknown> = Object.getPrototypeOf(FindMyWay.make())

afterEach(() => {
  vi.restoreAllMocks()
})

describe("the router", () => {
  it.scopedLive("is asked once per request", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        await gateway.manage("GET", "/api/keys")
        const find = vi.spyOn(prototype, "find")
        const authorization = `Bearer ${TestGateway.adminKey}`
        for (const [method, path, status] of [
          ["POST", "/v1/chat/completions", 400],
          ["GET", "/v1/models", 200],
          ["GET", "/V1/models/", 200],
          ["GET", "/v1beta/models/none", 404],
          ["GET", "/metrics", 200],
          ["GET", "/openapi.json", 200],
          ["GET", "/api/keys", 200],
          ["HEAD", "/api/keys", 200],
          ["GET", "/api/combos/none", 404],
          ["POST", "/api/keys", 400],
          ["GET", "/api/providers/validate", 405],
          ["DELETE", "/v1/models", 405],
          ["GET", "/no/such/route", 404]
        ] as const) {
          find.mockClear()
          const answer = await fetch(gateway.url + path, {
            method,
            headers: { authorization, "content-type": "application/json" },
            ...(method === "POST" ? { body: "{}" } : {})
          })
          await answer.arrayBuffer()
          assert.deepStrictEqual([answer.status, find.mock.calls.length], [status, 1], `${method} ${path}`)
        }
      })
    })
  )
})
