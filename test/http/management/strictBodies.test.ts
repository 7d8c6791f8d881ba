/** A field that no schema names is refused on every management route, before anything happens. */
import * as HttpApi from "@effect/platform/HttpApi"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { GatewayApi } from "../../../src/contract/Api.ts"
import { managementTable, streamedBodies } from "../../../src/contract/ManagementRoutes.ts"
import { layerOf, TestApp } from "./TestApp.ts"

describe("every body of the contract", () => {
  HttpApi.reflect(GatewayApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      if (Option.isNone(endpoint.payloadSchema)) return
      const schema = endpoint.payloadSchema.value as unknown as Schema.Schema<unknown>
      // A table of prices is open by its nature; what stands in it is not.
      const isTable = group.identifier === "pricing"
      it(`${group.identifier}.${endpoint.name} names the field that it does not know`, () => {
        const body = isTable ? { openai: { m: { input: 1, output: 1, misspelt: 1 } } } : { misspelt: 1 }
        const decoded = Schema.decodeUnknownEither(schema)(body)
        assert.strictEqual(decoded._tag, "Left")
        if (decoded._tag === "Left") assert.match(decoded.left.message, /misspelt/)
      })
    }
  })
})

/** By what changes nothing where it is taken after all. */
const bodyless: ReadonlyArray<readonly [method: string, path: string]> = []
HttpApi.reflect(GatewayApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    const key = `${group.identifier}.${endpoint.name}` as keyof typeof managementTable
    const { method, path, tier } = managementTable[key]
    const isHere = (tier === "manage" || tier === "loopback") && !streamedBodies.has(key)
    if (Option.isNone(endpoint.payloadSchema) && !["GET", "DELETE"].includes(method) && isHere) {
      ;(bodyless as Array<readonly [string, string]>).push([method, path.replaceAll(/:\w+/g, "x")])
    }
  }
})

layer(layerOf(), { excludeTestServices: true })("a route without a body", (it) => {
  it.effect("refuses one, instead of leaving undone what it says", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      assert.isAbove(bodyless.length, 10)
      for (const [method, path] of bodyless) {
        const answer = yield* app.admin(path, { method, body: { keep: 3 } })
        assert.strictEqual(answer.status, 400, `${method} ${path}: ${answer.text}`)
        assert.match(answer.text, /takes no body/, `${method} ${path}`)
      }
      assert.deepInclude([200, 201], (yield* app.admin("/api/db-backups", { method: "PUT", body: {} })).status)
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("a misspelt field", (it) => {
  const refused = Effect.fnUntraced(function* (method: string, path: string, body: unknown, field: string) {
    const answer = yield* (yield* TestApp).admin(path, { method, body })
    assert.strictEqual(answer.status, 400, `${method} ${path}: ${answer.text}`)
    assert.strictEqual(answer.at("error.param"), field, answer.text)
    return String(answer.at("error.details.0.message"))
  })

  it.effect("does not make a key without the restriction it was meant to be", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const message = yield* refused("POST", "/api/keys", { name: "k", allowedModel: ["x"] }, "allowedModel")
      assert.strictEqual(message, "is not a known field; did you mean 'allowedModels'?")
      yield* refused("POST", "/api/keys", { name: "k", scopes: ["manege"] }, "scopes.0")
      yield* refused("POST", "/api/keys", { name: "k", expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt")
      assert.deepStrictEqual((yield* app.admin("/api/keys")).at("keys"), [])
    })
  )

  it.effect("is named on the routes of settings, models and connections, at any depth", () =>
    Effect.gen(function* () {
      yield* refused("PATCH", "/api/resilience", { timeout: { connectMs: 100 } }, "timeout")
      yield* refused("PATCH", "/api/resilience", { timeouts: { connectsMs: 100 } }, "timeouts.connectsMs")
      yield* refused("PATCH", "/api/settings/routing", { lkgp: true }, "lkgp")
      yield* refused("POST", "/api/provider-models", { provider: "openai", modelId: "m", context: 1 }, "context")
      yield* refused("PATCH", "/api/provider-models", { provider: "openai", modelId: "m", hiden: true }, "hiden")
      yield* refused(
        "POST",
        "/api/providers",
        { provider: "openai", apiKey: "k".repeat(20), base_url: "x" },
        "base_url"
      )
      yield* refused("POST", "/api/combos", { name: "c", targets: [{ model: "a/b", wieght: 1 }] }, "targets.0.wieght")
      yield* refused("POST", "/api/resilience/reset", { providr: "openai" }, "providr")
    })
  )

  it.effect("a price beyond all reason is refused, with its field", () =>
    Effect.gen(function* () {
      const price = (output: number) => ({ openai: { m: { input: 1, output } } })
      for (const wrong of [1e308, 1_000_001, -1]) {
        yield* refused("PATCH", "/api/pricing", price(wrong), "openai.m.output")
      }
      const kept = yield* (yield* TestApp).admin("/api/pricing", { method: "PATCH", body: price(1_000_000) })
      assert.strictEqual(kept.status, 200, kept.text)
    })
  )

  it.effect("is found among very many in one answer", () =>
    Effect.gen(function* () {
      const body = { name: "k", ...Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`f${index}`, 1])) }
      yield* refused("POST", "/api/keys", body, "f0")
    })
  )
})
