/** The IP filter: before any key is read, on every route of the listener, and never against this machine itself. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "../ws/support.ts"

/** A request that came through a proxy on this machine: its address is the proxy's, and it is not direct. */
const forwarded = { "x-forwarded-for": "203.0.113.9" }

const routes = [
  ["GET", "/"],
  ["GET", "/api/health/ping"],
  ["GET", "/openapi.json"],
  ["GET", "/metrics"],
  ["GET", "/v1/models"],
  ["GET", "/api/keys"],
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/messages"],
  ["POST", "/v1beta/models/m:generateContent"],
  ["POST", "/api/chat"],
  ["GET", "/no/such/route"],
  ["OPTIONS", "/v1/models"]
] as const

describe("the IP filter", () => {
  it.scopedLive("refuses by either list, whatever the key, and lets direct requests of this machine in", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const put = (settings: object) => gateway.manage("PUT", "/api/settings/ip-filter", settings)
      const admin = { authorization: `Bearer ${TestGateway.adminKey}` }
      const statuses = async (headers: Record<string, string>) => {
        const found: Array<number> = []
        for (const [method, path] of routes) {
          const answer = await fetch(gateway.url + path, { method, headers: { ...admin, ...headers } })
          found.push(answer.status)
          await answer.text()
        }
        return found
      }
      yield* Effect.promise(async () => {
        const open = await statuses(forwarded)
        assert.notInclude(open, 403)
        for (const settings of [
          { enabled: true, mode: "blacklist", blacklist: ["127.0.0.0/8"] },
          { mode: "whitelist", whitelist: [] },
          { mode: "whitelist", whitelist: ["10.0.0.0/8"] }
        ]) {
          await put(settings)
          assert.deepStrictEqual(
            await statuses(forwarded),
            routes.map(() => 403)
          )
          assert.deepStrictEqual(await statuses({}), open)
          const answer = await fetch(`${gateway.url}/v1/messages`, { method: "POST", headers: forwarded })
          const body = (await answer.json()) as { type: string; error: { type: string } }
          assert.deepStrictEqual([body.type, body.error.type], ["error", "permission_error"])
          assert.strictEqual((await Ws.refused(gateway, "/v1/responses", forwarded)).status, 403)
        }
        await put({ whitelist: ["127.0.0.1"] })
        assert.deepStrictEqual(await statuses(forwarded), open)
        await put({ enabled: false, whitelist: [] })
        assert.deepStrictEqual(await statuses(forwarded), open)
      })
    })
  )
})
