/** Who may use the inspector: this machine only, which is judged before any credential, and then as for all management. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { request } from "node:http"
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import * as FakeTunnels from "../../support/FakeTunnels.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { refused } from "../ws/support.ts"
import { base, bearer, ingestToken, start } from "./support.ts"

/** Each refusal is a line in the log. */
const quietly = Logger.withMinimumLogLevel(LogLevel.None)

const routes = managementRoutes.filter(({ path }) => path.startsWith(base))

/** Status and code; `Host` can be set, which `fetch` does not allow. */
const asked = (
  url: string,
  { method, path }: { readonly method: string; readonly path: string },
  headers: Readonly<Record<string, string>>
): Promise<readonly [number, string]> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const asking = request({ hostname, port, method, path: path.replaceAll(/:\w+/g, "some"), headers }, (response) => {
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece))
      response.on("end", () => {
        const text = Buffer.concat(pieces).toString()
        const code = text.startsWith("{") ? JSON.parse(text).error?.code : ""
        resolve([response.statusCode ?? 0, String(code)])
      })
    })
    asking.on("error", reject)
    asking.end()
  })

describe("the routes of the inspector", () => {
  it.scopedLive("answer other machines 403 before anything else, whatever credential they have", () =>
    Effect.gen(function* () {
      const { gateway } = yield* start()
      assert.isAtLeast(routes.length, 24)
      const foreign: ReadonlyArray<Readonly<Record<string, string>>> = [
        { "x-forwarded-for": "203.0.113.9" },
        { forwarded: "for=203.0.113.9" },
        { via: "1.1 proxy" },
        { "x-real-ip": "127.0.0.1" },
        { host: "gateway.example" },
        { "x-forwarded-for": "127.0.0.1", "content-encoding": "gzip" },
        { "x-forwarded-for": "127.0.0.1", origin: "https://evil.example" }
      ]
      yield* Effect.promise(async () => {
        for (const route of routes) {
          for (const headers of foreign) {
            for (const credential of [{}, bearer, { authorization: `Bearer ${ingestToken}` }]) {
              const answer = await asked(gateway.url, route, { ...headers, ...credential })
              assert.deepStrictEqual(answer, [403, "loopback_only"], `${route.key} ${JSON.stringify(headers)}`)
            }
          }
        }
      })
    }).pipe(quietly)
  )

  it.scopedLive("answer this machine 401 without a credential, and 403 to a page of another site", () =>
    Effect.gen(function* () {
      const { gateway } = yield* start()
      yield* Effect.promise(async () => {
        for (const route of routes) {
          const expected: readonly [number, string] =
            route.tier === "ingest" ? [403, "ingest_token"] : [401, "missing_api_key"]
          assert.deepStrictEqual(await asked(gateway.url, route, {}), expected, route.key)
        }
        const page = { ...bearer, origin: "https://evil.example", "sec-fetch-site": "cross-site" }
        for (const route of routes) {
          assert.strictEqual((await asked(gateway.url, route, page))[0], 403, route.key)
        }
      })
    }).pipe(quietly)
  )

  it.scopedLive("answer what comes through a tunnel 403", () =>
    Effect.gen(function* () {
      const tunnels = FakeTunnels.make()
      const gateway = yield* TestGateway.start({}, tunnels)
      yield* Effect.promise(async () => {
        const { targetUrl } = await gateway.manage("POST", "/api/tunnels/quick", {
          action: "enable",
          allowKeyless: true
        })
        for (const route of routes) {
          const answer = await asked(String(targetUrl), route, bearer)
          assert.deepStrictEqual(answer, [403, "loopback_only"], route.key)
        }
      })
    }).pipe(quietly)
  )

  it.scopedLive("refuse sockets over plain HTTP by the same rules", () =>
    Effect.gen(function* () {
      const { gateway } = yield* start()
      const status = async (headers: Readonly<Record<string, string>>) =>
        (await refused(gateway, `${base}/ws`, headers)).status
      yield* Effect.promise(async () => {
        assert.strictEqual(await status({ ...bearer, "x-forwarded-for": "127.0.0.1" }), 403)
        assert.strictEqual(await status({ ...bearer, host: "gateway.example" }), 403)
        assert.strictEqual(await status({}), 401)
        assert.strictEqual(await status({ authorization: "Bearer wrong" }), 401)
        assert.strictEqual(await status({ ...bearer, origin: "https://evil.example" }), 403)
        assert.strictEqual(await status({ ...bearer, origin: "http://127.0.0.1:1" }), 403)
      })
    }).pipe(quietly)
  )
})
