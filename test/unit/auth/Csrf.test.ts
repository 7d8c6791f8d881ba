import { assert, describe, it } from "@effect/vitest"
import { csrfTokenOf, isCrossSite, isCsrfToken, isSafeMethod } from "../../../src/subjects/auth/Csrf.ts"

describe("Csrf", () => {
  it("accepts the session's own token only", () => {
    const token = csrfTokenOf("cookie-a")
    assert.isTrue(isCsrfToken("cookie-a", token))
    assert.isFalse(isCsrfToken("cookie-b", token))
    assert.isFalse(isCsrfToken("cookie-a", null))
    assert.isFalse(isCsrfToken("cookie-a", ""))
    assert.isFalse(isCsrfToken("cookie-a", token.slice(0, -2)))
  })

  it("does not give the cookie away", () => assert.notInclude(csrfTokenOf("cookie-a"), "cookie-a"))

  it("knows safe methods", () => {
    for (const method of ["GET", "HEAD", "OPTIONS"]) assert.isTrue(isSafeMethod(method))
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) assert.isFalse(isSafeMethod(method))
  })

  for (const [headers, crossSite] of [
    [{ host: "localhost:20128" }, false],
    [{ host: "localhost:20128", origin: "http://localhost:20128" }, false],
    [{ host: "LOCALHOST:20128", origin: "http://localhost:20128" }, false],
    [{ host: "localhost:20128", origin: "http://localhost:3000" }, true],
    [{ host: "localhost:20128", origin: "https://evil.example" }, true],
    [{ host: "localhost:20128", origin: "null" }, true],
    [{ host: "localhost:20128", "sec-fetch-site": "same-origin" }, false],
    [{ host: "localhost:20128", "sec-fetch-site": "none" }, false],
    [{ host: "localhost:20128", "sec-fetch-site": "same-site" }, true],
    [{ host: "localhost:20128", "sec-fetch-site": "cross-site" }, true],
    [{ origin: "https://evil.example" }, true]
  ] as const) {
    it(`${JSON.stringify(headers)} ${crossSite ? "is" : "is not"} cross-site`, () =>
      assert.strictEqual(isCrossSite(headers), crossSite))
  }
})
