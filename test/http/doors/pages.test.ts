/** The page at `/`, and the documentation at `/docs` with its files, over real HTTP. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RawRequest from "../../support/RawRequest.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

it.scopedLive("pages are shown to browsers, and programs get JSON as before", () =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start({})
    const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
      Effect.promise(() => RawRequest.ask(gateway.url, { method, path, headers }))
    const assertPage = (answer: RawRequest.RawAnswer, text: string) => {
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers["content-type"], "text/html; charset=utf-8")
      assert.include(answer.body, text)
      assert.include(String(answer.headers["content-security-policy"]), "default-src 'none'")
      assert.include(String(answer.headers["content-security-policy"]), "frame-ancestors 'none'")
      assert.strictEqual(answer.headers["x-content-type-options"], "nosniff")
      assert.strictEqual(answer.headers["x-frame-options"], "DENY")
      assert.strictEqual(answer.headers["referrer-policy"], "no-referrer")
      assert.isUndefined(answer.headers["access-control-allow-origin"])
      assert.isUndefined(answer.headers["set-cookie"])
      assert.isString(answer.headers["x-gateway-request-id"])
    }

    for (const accept of ["*/*", "application/json"]) {
      const answer = yield* get("/", { accept })
      assert.include(String(answer.headers["content-type"]), "application/json")
      assert.deepInclude(JSON.parse(answer.body), { name: "gateway", docs: "/openapi.json" })
      assert.include(String(answer.headers["vary"]), "Accept")
    }
    const root = yield* get("/", { accept: browser })
    assertPage(root, "is running.")
    assert.include(root.body, 'href="/docs"')
    assert.include(String(root.headers["vary"]), "Accept")
    const head = yield* get("/", { accept: browser }, "HEAD")
    assert.deepStrictEqual([head.status, head.body], [200, ""])

    const docs = yield* get("/docs")
    assertPage(docs, '<div id="viewer">')
    assertPage(yield* get("/docs/"), '<div id="viewer">')

    // Everything that the pages load is here, and is kept by who has it.
    const loaded = new Set(
      Array.from(`${root.body}${docs.body}`.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g), ([, address = ""]) => address)
    )
    assert.isAtLeast(loaded.size, 4)
    for (const address of loaded) {
      const file = yield* get(address)
      assert.strictEqual(file.status, 200, address)
      assert.match(String(file.headers["content-type"]), /^(?:text\/(?:css|javascript)|image\/svg)/, address)
      assert.isAbove(file.body.length, 100, address)
      assert.strictEqual(file.headers["cache-control"], "public, max-age=31536000, immutable", address)
      assert.strictEqual(file.headers["x-content-type-options"], "nosniff", address)
      const { etag } = file.headers
      const again = yield* get(address, { "if-none-match": String(etag) })
      assert.deepStrictEqual([again.status, again.body, again.headers.etag], [304, "", etag], address)
      const other = yield* get(address.replace(/v=.*/, "v=old"))
      assert.deepStrictEqual([other.status, other.headers["cache-control"]], [200, "no-cache"], address)
    }

    for (const path of [
      "/docs/none.js",
      "/docs/README.md",
      "/docs/..%2fpackage.json",
      "/docs/viewer.js/x",
      "/docs/__proto__"
    ]) {
      const answer = yield* get(path)
      assert.include([400, 404], answer.status, path)
      assert.notInclude(answer.body, "dependencies", path)
    }
    const posted = yield* get("/docs", {}, "POST")
    assert.deepStrictEqual([posted.status, posted.headers.allow], [405, "GET"])

    // A page of elsewhere cannot have them, as long as no key is required.
    for (const path of ["/", "/docs", "/docs/viewer.js"]) {
      for (const headers of [
        { "sec-fetch-site": "cross-site" },
        { origin: "https://evil.example" },
        { host: "evil.example" }
      ]) {
        assert.strictEqual((yield* get(path, { accept: browser, ...headers })).status, 403, path)
      }
    }
  })
)
