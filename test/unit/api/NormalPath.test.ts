import { assert, describe, it } from "@effect/vitest"
import { normalisePath, pathOf } from "../../../src/kernel/text/NormalPath.ts"

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
