import { assert, describe, it } from "@effect/vitest"
import { hopHeaders, readAbsoluteTarget, readAuthority } from "../../../../src/observe/capture/proxy/Authority.ts"

describe("readAuthority", () => {
  it.each([
    ["api.example.com:443", { host: "api.example.com", port: 443 }],
    ["API.Example.com.:8443", { host: "api.example.com", port: 8443 }],
    ["192.0.2.1:1", { host: "192.0.2.1", port: 1 }],
    ["[2001:DB8::1]:65535", { host: "2001:db8::1", port: 65535 }]
  ])("reads %s", (text, expected) => {
    assert.deepStrictEqual(readAuthority(text), expected)
  })

  it.each([
    "",
    "api.example.com",
    "api.example.com:",
    ":443",
    "api.example.com:0",
    "api.example.com:65536",
    "2001:db8::1:443",
    "[::zz]:443",
    "user@api.example.com:443",
    "http://api.example.com:443",
    "a b:443",
    "a\u0000b:443",
    `${"a".repeat(300)}:443`
  ])("refuses %j", (text) => {
    assert.isNull(readAuthority(text))
  })
})

describe("readAbsoluteTarget", () => {
  it("keeps the path as it was written", () => {
    assert.deepStrictEqual(readAbsoluteTarget("http://Example.com:8080/a/../b?c=%20d"), {
      host: "example.com",
      port: 8080,
      hostHeader: "example.com:8080",
      path: "/a/../b?c=%20d"
    })
    assert.strictEqual(readAbsoluteTarget("http://example.com")?.path, "/")
    assert.strictEqual(readAbsoluteTarget("http://example.com?x=1")?.path, "/?x=1")
    assert.deepStrictEqual(readAbsoluteTarget("http://[::1]:81/"), {
      host: "::1",
      port: 81,
      hostHeader: "[::1]:81",
      path: "/"
    })
  })

  it.each(["/path", "*", "https://example.com/", "ftp://example.com/", "http://u:p@example.com/", "http:///x", ""])(
    "refuses %j",
    (text) => {
      assert.isNull(readAbsoluteTarget(text))
    }
  )
})

describe("hopHeaders", () => {
  it("has what is meant for the proxy, and what Connection names, but never what frames the body", () => {
    const names = hopHeaders("close, X-Private, Content-Length", false)
    for (const name of ["proxy-authorization", "connection", "x-private", "upgrade"])
      assert.isTrue(names.has(name), name)
    assert.isFalse(names.has("content-length"))
    assert.isFalse(hopHeaders("Upgrade", true).has("upgrade"))
  })
})
