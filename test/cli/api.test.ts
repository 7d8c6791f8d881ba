/** `gateway api`: any call of the HTTP API, with the credentials of the other commands, and to no other place. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { addressIn } from "../../src/cli/commands/api.ts"
import { adminKey, layerOf, TestApp } from "../http/management/TestApp.ts"
import { typed } from "../unit/cli/inProcess.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-api-"))
beforeAll(() => void vi.stubEnv("DATA_DIR", folder))
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const asked = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { url } = yield* TestApp
  return yield* typed(["api", ...words, "--url", url, "--gateway-key", adminKey])
})

layer(layerOf(), { excludeTestServices: true })("gateway api", (it) => {
  it.effect("makes, reads with a query, changes by a file and removes", () =>
    Effect.gen(function* () {
      const made = yield* asked("POST", "/api/keys", "--data", '{"name":"by api"}')
      assert.strictEqual(made.code, 0, made.stderr)
      const { id } = JSON.parse(made.stdout).key
      const found = yield* asked(
        "GET",
        "/api/keys",
        "--query",
        "search=by api",
        "--query",
        "view=summary",
        "-o",
        "json"
      )
      assert.deepStrictEqual(
        JSON.parse(found.stdout).keys.map((key: { id: string }) => key.id),
        [id]
      )
      const file = join(folder, "body.json")
      writeFileSync(file, '{"name":"from a file"}')
      const changed = yield* asked("PUT", `/api/keys/${id}`, "--data", `@${file}`, "-o", "name")
      assert.deepStrictEqual([changed.code, changed.stdout], [0, id])
      const gone = yield* asked("DELETE", `/api/keys/${id}`)
      assert.strictEqual(gone.code, 0, gone.stderr)
      const missing = yield* asked("GET", `/api/keys/${id}`)
      assert.deepStrictEqual([missing.code === 0, missing.stdout], [false, ""])
      assert.include(missing.stderr, id)
    })
  )

  it.effect("refuses the change of another version, in the words of the other commands", () =>
    Effect.gen(function* () {
      const made = yield* asked("POST", "/api/keys", "--data", '{"name":"two editors"}')
      const { id } = JSON.parse(made.stdout).key
      const refused = yield* asked("PUT", `/api/keys/${id}`, "--data", '{"name":"second"}', "--if-match", "old")
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr, "two editors")
    })
  )

  it.effect("says what is wrong before anything is sent", () =>
    Effect.gen(function* () {
      for (const [words, said] of [
        [["POST", "/api/keys", "--data", "{name}"], "not valid JSON"],
        [["POST", "/api/keys", "--data", "@/no/such/file"], "cannot be read"],
        [["GET", "api/keys"], "no path of the gateway"],
        [["GET", "https://elsewhere.example/api/keys"], "no path of the gateway"],
        [["GET", "/api/keys", "--query", "limit"], "--query"],
        [["FETCH", "/api/keys"], "FETCH"],
        [["POST", "/api/keys", "--data", "-", "--password-stdin"], "standard input"]
      ] as const) {
        const { code, stderr, stdout } = yield* asked(...words)
        assert.deepStrictEqual([code, stdout], [2, ""], words.join(" "))
        assert.include(stderr, said)
      }
    })
  )

  it.effect("shows what is wrong with a body in the gateway's own words", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* asked("POST", "/api/keys", "--data", '{"name":7}')
      assert.strictEqual(code, 2)
      assert.include(stderr, "name")
    })
  )

  it.effect("sends no key to where an answer leads", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const elsewhere = createServer((request, response) => {
        told.push(request.url ?? "")
        response.end("{}")
      }).listen(0, "127.0.0.1")
      const at = (server: ReturnType<typeof createServer>): string =>
        `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      yield* Effect.promise(() => new Promise((resolve) => elsewhere.once("listening", resolve)))
      const redirecting = createServer((_request, response) => {
        response.writeHead(307, { location: `${at(elsewhere)}/stolen` }).end()
      }).listen(0, "127.0.0.1")
      yield* Effect.promise(() => new Promise((resolve) => redirecting.once("listening", resolve)))
      yield* typed(["api", "GET", "/api/keys", "--url", at(redirecting), "--gateway-key", adminKey])
      assert.deepStrictEqual(told, [])
      elsewhere.close()
      redirecting.close()
    })
  )

  it("stays within the gateway's address, whatever the path is", () => {
    const gateway = "https://host.example/gateway"
    for (const path of [
      "//evil.example/x",
      "/../x",
      "/%2e%2e/x",
      "/\\evil.example",
      "/@evil.example",
      "/api/../../x"
    ]) {
      const address = addressIn(gateway, path, [])
      if (address !== null) assert.isTrue(address.href.startsWith(`${gateway}/`), `${path}: ${address.href}`)
    }
    assert.isNull(addressIn(gateway, "/../x", []))
    assert.isNull(addressIn(gateway, "/%2e%2e/x", []))
    assert.isNull(addressIn("http://host.example", "@evil.example/x", []))
    assert.isNull(addressIn("http://host.example", ".evil.example/x", []))
    assert.strictEqual(addressIn(gateway, "/api/keys?a=1#x", [["b", "&2"]])?.href, `${gateway}/api/keys?a=1&b=%262`)
  })
})
