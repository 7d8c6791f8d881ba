/** The pages of the dashboard and their files, from a folder as the build makes it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync, brotliDecompressSync } from "node:zlib"
import { dashboardOf, dashboardPolicy, takesCoding } from "../../../src/entry/pages/Dashboard.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const script = "console.log('a view')\n".repeat(100)

const built = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-dashboard-"))
  mkdirSync(join(folder, "assets"))
  writeFileSync(join(folder, "index.html"), '<script src="%root%assets/main-1a.js"></script>')
  writeFileSync(join(folder, "assets/main-1a.js"), script)
  writeFileSync(join(folder, "assets/main-1a.js.br"), brotliCompressSync(script))
  writeFileSync(
    join(folder, "manifest.json"),
    JSON.stringify({
      build: "b1",
      shell: "index.html",
      files: { "main-1a.js": { type: "text/javascript; charset=utf-8", codings: ["identity", "br"] } }
    })
  )
  return folder
}

const browser = { accept: "text/html,*/*;q=0.8" }

it.scopedLive("every path below it answers the shell, and files are kept for good", () =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start({ dashboardFolder: built() })
    const get = (path: string, headers: Readonly<Record<string, string>> = browser) =>
      Effect.promise(() => RawRequest.ask(gateway.url, { method: "GET", path, headers }))

    for (const [path, file] of [
      ["/dashboard/", "./assets/main-1a.js"],
      ["/dashboard/requests", "./assets/main-1a.js"],
      ["/dashboard/requests/a?q=b/c", "../assets/main-1a.js"],
      ["/dashboard/requests/a/", "../../assets/main-1a.js"]
    ] as const) {
      const answer = yield* get(path)
      assert.strictEqual(answer.status, 200, path)
      assert.include(answer.body, `src="${file}"`, path)
      assert.strictEqual(answer.headers["content-security-policy"], dashboardPolicy)
      assert.strictEqual(answer.headers["cache-control"], "no-cache")
      assert.strictEqual(answer.headers["x-frame-options"], "DENY")
      assert.isUndefined(answer.headers["set-cookie"])
      assert.isUndefined(answer.headers["access-control-allow-origin"])
    }

    const plain = yield* get("/dashboard/assets/main-1a.js", {})
    assert.strictEqual(plain.body, script)
    assert.strictEqual(plain.headers["cache-control"], "public, max-age=31536000, immutable")
    assert.strictEqual(plain.headers["content-type"], "text/javascript; charset=utf-8")
    assert.isUndefined(plain.headers["content-encoding"])
    const small = yield* Effect.promise(async () => {
      const answer = await fetch(`${gateway.url}/dashboard/assets/main-1a.js`, { headers: { "accept-encoding": "br" } })
      return { coding: answer.headers.get("content-encoding"), text: await answer.text() }
    })
    assert.deepStrictEqual(small, { coding: "br", text: script })

    for (const path of ["", "..%2fmanifest.json", "%2e%2e/manifest.json", "main-1a.js.br", "toString", "main-2b.js"]) {
      const answer = yield* get(`/dashboard/assets/${path}`)
      assert.notInclude(answer.body, '"build"', path)
      assert.isTrue(answer.status === 404 || answer.status === 400, `${path} ${answer.status}`)
    }
  })
)

it.scopedLive("browsers are led to it, relative to a proxy's path, and programs get JSON", () =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start({ dashboardFolder: built() })
    const get = (path: string, headers: Readonly<Record<string, string>>) =>
      Effect.promise(() => RawRequest.ask(gateway.url, { method: "GET", path, headers }))
    for (const path of ["/", "/dashboard"]) {
      const answer = yield* get(path, browser)
      assert.deepStrictEqual([answer.status, answer.headers["location"]], [302, "dashboard/"], path)
    }
    assert.include(String((yield* get("/", { accept: "*/*" })).headers["content-type"]), "application/json")
  })
)

it.scopedLive("without one in the build, or turned off, it says so", () =>
  Effect.gen(function* () {
    const missing = yield* TestGateway.start({})
    const off = yield* TestGateway.start({ dashboard: false, dashboardFolder: built() })
    for (const [gateway, sentence] of [
      [missing, "has no dashboard"],
      [off, "GATEWAY_DASHBOARD=false"]
    ] as const) {
      const answer = yield* Effect.promise(() => RawRequest.ask(gateway.url, { method: "GET", path: "/dashboard/" }))
      assert.strictEqual(answer.status, 404)
      assert.include(answer.body, sentence)
      const root = yield* Effect.promise(() =>
        RawRequest.ask(gateway.url, { method: "GET", path: "/", headers: browser })
      )
      assert.strictEqual(root.status, 200)
      assert.include(root.body, "is running.")
    }
  })
)

describe("codings", () => {
  it("are taken where the client names them with a weight above 0", () => {
    assert.isTrue(takesCoding("gzip, deflate, br", "br"))
    assert.isTrue(takesCoding("br;q=0.5", "br"))
    assert.isFalse(takesCoding("br;q=0, gzip", "br"))
    assert.isFalse(takesCoding("br;q=0.000", "br"))
    assert.isFalse(takesCoding(undefined, "br"))
  })

  it("come in the best of them", () => {
    const dashboard = dashboardOf(built())
    const file = dashboard?.file("main-1a.js", "gzip, br")
    assert.strictEqual(file?.coding, "br")
    assert.strictEqual(brotliDecompressSync(file?.bytes ?? Buffer.alloc(0)).toString(), script)
    assert.strictEqual(dashboard?.file("main-1a.js", "gzip")?.coding, "identity")
  })
})

it("a file of which the package has the compressed form alone is told in every coding", () => {
  const folder = built()
  rmSync(join(folder, "assets/main-1a.js"))
  const dashboard = dashboardOf(folder)
  const plain = dashboard?.file("main-1a.js", undefined)
  assert.strictEqual(plain?.coding, "identity")
  assert.strictEqual(plain?.bytes.toString(), script)
  const small = dashboard?.file("main-1a.js", "gzip, br")
  assert.strictEqual(small?.coding, "br")
  assert.strictEqual(brotliDecompressSync(small?.bytes ?? "").toString(), script)
})
