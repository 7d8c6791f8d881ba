import { assert, describe, it } from "@effect/vitest"
import { edgeRoutes } from "../../../src/contract/EdgeRoutes.ts"
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import { match, routeAt, routes } from "../../../src/contract/Routes.ts"

const keyOf = (method: string, target: string) => {
  const found = match(method, target)
  return found._tag === "Found" ? found.route.key : found._tag
}

const parametersOf = (method: string, target: string) => {
  const found = match(method, target)
  return found._tag === "Found" ? found.parameters : null
}

const allowedAt = (method: string, target: string) => {
  const found = match(method, target)
  return found._tag === "WrongMethod" ? found.routes.map((route) => route.method) : null
}

describe("the route table", () => {
  it("is one for both planes, and finds every route of it by its own path", () => {
    assert.sameMembers([...routes], [...edgeRoutes, ...managementRoutes])
    for (const route of routes) {
      const target = route.path.replaceAll(/:\w+/g, "Some%20One").replace("*", "the/Rest")
      const found = match(route.method, target)
      assert.strictEqual(found._tag === "Found" ? found.route : null, route, `${route.method} ${route.path}`)
    }
  })

  it("has no path of one plane inside the other's", () => {
    for (const { plane, path } of routes) {
      const target = path.replaceAll(/:\w+/g, "none").replace("*", "rest")
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        assert.strictEqual(routeAt(match(method, target))?.plane, plane, `${method} ${target}`)
      }
    }
  })

  it("under an editor's key are inference routes, every one", () => {
    const under = edgeRoutes.filter(({ path }) => path.startsWith("/api/v1/editor/"))
    assert.isAbove(under.length, 10)
    assert.isTrue(under.every(({ tier }) => tier === "inference"))
  })
})

describe("match", () => {
  it("does not mind letter case, but keeps that of parameters", () => {
    assert.strictEqual(keyOf("GET", "/API/Providers/AbC"), "providers.get")
    assert.deepStrictEqual(parametersOf("GET", "/API/Providers/AbC"), { id: "AbC" })
    assert.deepStrictEqual(parametersOf("POST", "/Api/v1/Editor/gw_X/Chat/completions"), { token: "gw_X" })
    assert.strictEqual(keyOf("POST", "//V1/chat/completions"), "inference.chat")
  })

  it("prefers a fixed segment to a parameter, whatever the method", () => {
    assert.strictEqual(keyOf("POST", "/api/providers/validate"), "providers.validate")
    assert.strictEqual(keyOf("GET", "/api/providers/other"), "providers.get")
    assert.deepStrictEqual(allowedAt("GET", "/api/providers/validate"), ["POST"])
    assert.strictEqual(keyOf("GET", "/api/usage/logs"), "usage.logs")
    assert.strictEqual(keyOf("GET", "/api/usage/log"), "usage.connection")
  })

  it("answers HEAD where GET is", () => {
    assert.strictEqual(keyOf("HEAD", "/api/health/ping"), "system.ping")
    assert.strictEqual(keyOf("HEAD", "/api/v1/editor/gw_x/models"), "inference.models")
    assert.deepStrictEqual(allowedAt("HEAD", "/v1/chat/completions"), ["POST"])
  })

  it("names the methods of a path that has others", () => {
    assert.deepStrictEqual(allowedAt("DELETE", "/api/providers"), ["GET", "POST"])
    assert.sameMembers(allowedAt("OPTIONS", "/v1/embeddings") ?? [], ["POST", "GET"])
    assert.sameMembers(allowedAt("PUT", "/v1beta/models/m") ?? [], ["POST", "GET"])
  })

  it("gives the rest of an open path, and the route of the wider path where the narrower has no such method", () => {
    assert.deepStrictEqual(parametersOf("GET", "/v1/models/a%2Fb/C"), { "*": "a/b/C" })
    assert.deepStrictEqual(parametersOf("GET", "/v1beta/models/a/b"), { "*": "a/b" })
    assert.strictEqual(keyOf("GET", "/v1beta/models"), "inference.geminiModels")
    for (const [target, rest] of [
      ["/v1beta/a:generateContent", "a:generateContent"],
      ["/v1beta/Models/a/b:countTokens", "Models/a/b:countTokens"],
      ["/v1beta/models", "models"]
    ] as const) {
      const found = match("POST", target)
      assert.strictEqual(found._tag === "Found" ? found.route.path : null, "/v1beta/*", target)
      assert.deepStrictEqual(parametersOf("POST", target), { "*": rest })
    }
  })

  it("reads parameters as they were meant, whatever they hold", () => {
    for (const value of ["a b", "ü?#;&", "100%", "%2", "İstanbul", "a:b", "(x)*", "+", "x".repeat(500), "__proto__"]) {
      const segment = encodeURIComponent(value)
      assert.deepStrictEqual(parametersOf("GET", `/api/combos/${segment}`), { id: value })
      assert.deepStrictEqual(parametersOf("GET", `/v1/providers/${segment}/models`), { provider: value })
      assert.strictEqual(keyOf("GET", `/api/combos/${segment}`), "combos.get")
    }
  })

  it("reads the query", () => {
    const found = match("GET", "/api/usage/logs?limit=1&limit=2&cursor=a%20b+c#x?y")
    assert.deepStrictEqual(found._tag === "Found" ? { ...found.query } : null, {
      limit: ["1", "2"],
      cursor: "a b c#x?y"
    })
  })

  it("does not know what is not there", () => {
    for (const target of [
      "/api",
      "/api/providers/a/b/c",
      "/api/keys;x",
      "/v1/chat/completions;x",
      "/v1/nothing",
      "/v1/providers/openai",
      "/v1/providers/a/b/models",
      "/api/v1/editor",
      "/v1beta",
      "/v1beta/"
    ]) {
      assert.strictEqual(keyOf("GET", target), "Unknown", target)
    }
    assert.strictEqual(keyOf("GET", "/api/%00"), "Malformed")
    assert.strictEqual(keyOf("GET", "*"), "Malformed")
  })
})
