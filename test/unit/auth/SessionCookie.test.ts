/** The session's cookie: its name and attributes with and without TLS, and which one of a request counts. */
import { assert, describe, it } from "@effect/vitest"
import { publicAddressHeader } from "../../../src/subjects/auth/Credentials.ts"
import { cookieOf, endedCookies, newCookie } from "../../../src/subjects/auth/sessions/SessionCookie.ts"

const value = "a".repeat(43)
const other = "b".repeat(43)
const cookie = (...pairs: ReadonlyArray<string>) => ({ cookie: pairs.join("; ") })

const here = { host: "127.0.0.1:20128" }
const outside = { host: "gw.example" }
const publicAt = (url: string) => ({ [publicAddressHeader]: url })

describe("the session's cookie", () => {
  const cases = [
    ["on this machine", here, "gateway_session", "/"],
    ["in a network without TLS", { host: "10.0.0.7:20128", origin: "http://10.0.0.7:20128" }, "gateway_session", "/"],
    ["by the proxy's word", { ...outside, "x-forwarded-proto": "https" }, "__Host-gateway_session", "/"],
    ["by the browser's word", { ...outside, origin: "https://gw.example" }, "__Host-gateway_session", "/"],
    ["by publicUrl", { ...outside, ...publicAt("https://gw.example") }, "__Host-gateway_session", "/"],
    ["by publicUrl, whatever the Host", { ...here, ...publicAt("https://gw.example") }, "__Host-gateway_session", "/"],
    ["below a path", { ...outside, ...publicAt("https://gw.example/llm") }, "__Secure-gateway_session", "/llm"],
    ["below a path without TLS", { ...outside, ...publicAt("http://gw.example/llm") }, "gateway_session", "/llm"],
    [
      "on this machine beside a publicUrl",
      { ...here, origin: "http://127.0.0.1:20128", ...publicAt("https://gw.example") },
      "gateway_session",
      "/"
    ],
    [
      "another site's word does not count",
      { ...outside, origin: "http://evil.example", ...publicAt("https://gw.example") },
      "__Host-gateway_session",
      "/"
    ]
  ] as const
  for (const [name, headers, expected, path] of cases) {
    it(`is named and bound by how it is sent: ${name}`, () => {
      const made = newCookie(headers)
      assert.strictEqual(made.name, expected)
      const secure = expected !== "gateway_session"
      assert.deepStrictEqual(made.options, { httpOnly: true, sameSite: "strict", path, secure })
      // What was set is read again, with a page's word and without.
      const back = cookie(`${expected}=${value}`)
      assert.strictEqual(cookieOf({ ...headers, ...back }), value)
      const { origin: _, ...silent } = { origin: "", ...headers }
      assert.strictEqual(cookieOf({ ...silent, ...back }), value)
    })
  }

  it("is read among others", () => {
    assert.strictEqual(cookieOf(cookie("x=1", `gateway_session=${value}`, "y=2")), value)
    assert.isNull(cookieOf(cookie("gateway_session=short")))
    assert.isNull(cookieOf({}))
  })

  it("that a page without TLS may have set does not count over TLS, and never before one that it cannot set", () => {
    const set = `gateway_session=${other}`
    for (const [name, headers] of cases.filter(([, , expected]) => expected.startsWith("__"))) {
      if (headers.host === "gw.example") assert.isNull(cookieOf({ ...headers, ...cookie(set) }), name)
      assert.strictEqual(cookieOf({ ...headers, ...cookie(set, `__Host-gateway_session=${value}`) }), value, name)
    }
  })

  it("is taken away under every name that came", () => {
    const names = (headers: Readonly<Record<string, string>>) => endedCookies(headers).map((one) => one.name)
    assert.deepStrictEqual(names(here), ["gateway_session"])
    const both = cookie(`gateway_session=${value}`, `__Host-gateway_session=${value}`)
    assert.sameMembers(names({ ...here, ...both }), ["gateway_session", "__Host-gateway_session"])
  })
})
