import { assert, describe, it } from "@effect/vitest"
import { match } from "../../../src/api/Routes.ts"
import { normalisePath, pathOf } from "../../../src/kernel/NormalPath.ts"

describe("normalisePath", () => {
  for (const [target, expected] of [
    ["/", []],
    ["/api/keys", ["api", "keys"]],
    ["/api/keys/", ["api", "keys"]],
    ["//api///keys", ["api", "keys"]],
    ["/./api/./keys", ["api", "keys"]],
    ["/v1/../api/keys", ["api", "keys"]],
    ["/v1/%2e%2e/api/keys", ["api", "keys"]],
    ["/v1/%2E./api/keys", ["api", "keys"]],
    ["/../../api/keys", ["api", "keys"]],
    ["/api%2Fkeys", ["api", "keys"]],
    ["/api/%6beys", ["api", "keys"]],
    ["/API/Keys", ["API", "Keys"]],
    ["/api/keys?x=/../y", ["api", "keys"]],
    ["/api/keys#x", ["api", "keys"]],
    ["http://host.example/api/keys?x", ["api", "keys"]],
    ["http://host.example", []],
    ["/api/a%25b", ["api", "a%b"]]
  ] as const) {
    it(`${target} → /${expected.join("/")}`, () => assert.deepStrictEqual(normalisePath(target), expected))
  }

  for (const target of [
    "/api/%00",
    "/api/%",
    "/api/%zz",
    "/api/%252e%252e/x",
    "/api/%255c",
    "/api\\keys",
    "/%5capi",
    "*",
    "",
    "/a%0ab"
  ]) {
    it(`refuses ${JSON.stringify(target)}`, () => assert.isNull(normalisePath(target)))
  }

  it("is stable: normalising its own spelling changes nothing", () => {
    const path = normalisePath("//a/%2e%2e/b/c%2Fd/./e") ?? []
    assert.deepStrictEqual(normalisePath(`/${path.map(encodeURIComponent).join("/")}`), path)
  })

  it("cuts the query off", () => assert.strictEqual(pathOf("/a?key=secret"), "/a"))
})

describe("Routes.match", () => {
  const find = (method: string, target: string) => match(method, normalisePath(target) ?? [])
  const keyOf = (method: string, target: string) => {
    const found = find(method, target)
    return found._tag === "Found" ? found.route.key : found._tag
  }

  it("finds routes in any letter case, but keeps that of parameters", () => {
    const found = find("GET", "/API/Providers/AbC")
    assert.deepInclude(found, { _tag: "Found", canonicalPath: "/api/providers/AbC", params: { id: "AbC" } })
  })

  it("prefers a fixed segment to a parameter", () => {
    assert.strictEqual(keyOf("POST", "/api/providers/validate"), "providers.validate")
    assert.strictEqual(keyOf("GET", "/api/providers/other"), "providers.get")
  })

  it("answers HEAD where GET is", () => assert.strictEqual(keyOf("HEAD", "/api/health/ping"), "system.ping"))

  it("names the methods of a path that has others", () => {
    const found = find("DELETE", "/api/providers")
    assert.deepStrictEqual(found, { _tag: "WrongMethod", allow: ["GET", "POST"] })
  })

  it("knows the inference routes", () => {
    assert.strictEqual(keyOf("POST", "//V1/chat/completions"), "inference.chat")
    assert.strictEqual(keyOf("GET", "/v1/models"), "inference.models")
  })

  it("does not know what is not there", () => {
    assert.strictEqual(keyOf("GET", "/api"), "Unknown")
    assert.strictEqual(keyOf("GET", "/api/providers/a/b/c"), "Unknown")
  })

  it("encodes a parameter again for the router", () =>
    assert.deepInclude(find("GET", "/api/combos/a%20b%3Fc"), { canonicalPath: "/api/combos/a%20b%3Fc" }))
})
