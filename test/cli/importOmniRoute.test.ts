/** `gateway import omniroute` against a running gateway, from a database that another program has open. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, vi } from "vitest"
import * as Handle from "../../src/store/engine/Handle.ts"
import * as Fake from "../support/FakeUpstream.ts"
import * as TestGateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"
import { running } from "./omniRouteData.ts"

let root = ""
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "gateway-omniroute-"))
  mkdirSync(join(root, "tmp"))
  vi.stubEnv("HOME", root)
  vi.stubEnv("XDG_CONFIG_HOME", "")
  vi.stubEnv("TMPDIR", join(root, "tmp"))
  vi.stubEnv("HOUSE_ONE_API_KEY", "key-of-the-house-5678")
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

const copies = () => readdirSync(join(root, "tmp")).filter((name) => name.startsWith("gateway-import-"))

describe("gateway import omniroute", () => {
  it.scopedLive("takes over what answers afterwards, once, and leaves the folder as it was", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      const folder = mkdtempSync(join(root, "data-"))
      yield* running(folder, upstream.origin)
      const at = (...words: ReadonlyArray<string>) =>
        typed([...words, "--url", gateway.url, "--gateway-key", TestGateway.adminKey])
      const content = () =>
        readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("base64")])
      const before = content()
      chmodSync(folder, 0o555)
      const dry = yield* at("import", "omniroute", folder, "--dry-run")
      assert.strictEqual(dry.code, 0, dry.stderr)
      assert.match(dry.stderr, /\+ combo house model/)
      assert.match((yield* at("combo", "list", "--json")).stdout, /"combos": \[\]/)
      const done = yield* at("import", "omniroute", join(folder, "storage.sqlite"), "--yes", "--json")
      assert.strictEqual(done.code, 0, done.stderr)
      const { changes, report } = JSON.parse(done.stdout)
      assert.deepStrictEqual(
        changes.map(({ kind, name }: { readonly kind: string; readonly name: string }) => `${kind} ${name}`),
        ["node house", "connection house/one", "combo house model", "combo large", "alias mini", "price house/small"]
      )
      const left = report.filter(({ result }: { readonly result: string }) => result === "left out")
      assert.deepStrictEqual(
        left.map(({ what }: { readonly what: string }) => what),
        ["connection claude/me@example.com", "API key laptop", "settings"]
      )
      for (const secret of ["token-of", "hash-of", "sk-of-a-client", "enc:v1", "key-of-the-house"]) {
        assert.notInclude(done.stdout + done.stderr, secret)
      }
      const again = yield* at("import", "omniroute", folder, "--json")
      assert.deepStrictEqual(JSON.parse(again.stdout).changes, [])
      assert.deepStrictEqual(content(), before)
      assert.deepStrictEqual(copies(), [], "no copy is left")
      upstream.always(Fake.json(Fake.chatCompletion()))
      const answer = yield* Effect.promise(() =>
        fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${TestGateway.adminKey}` },
          body: JSON.stringify({ model: "house model", messages: [{ role: "user", content: "Hi" }] })
        })
      )
      assert.strictEqual(answer.status, 200)
    })
  )

  it.scopedLive("reads the JSON export, and says what other files are", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const at = (...words: ReadonlyArray<string>) =>
        typed([...words, "--url", gateway.url, "--gateway-key", TestGateway.adminKey])
      const file = (name: string, content: string | Buffer): string => {
        const path = join(root, name)
        writeFileSync(path, content)
        return path
      }
      const connection = {
        id: "c",
        provider: "openai",
        authType: "apikey",
        name: "work",
        apiKey: "sk-of-the-export-12345"
      }
      const json = file("export.json", JSON.stringify({ providerConnections: [connection], combos: [] }))
      const printed = yield* at("import", "omniroute", json, "--print")
      assert.include(printed.stdout, "apiKey: ${OPENAI_WORK_API_KEY}")
      assert.notInclude(printed.stdout + printed.stderr, "sk-of-the-export")
      const open = yield* at("import", "omniroute", json, "--with-secrets", "--yes", "--json")
      assert.strictEqual(open.code, 0, open.stderr)
      const { connections } = yield* Effect.promise(() => gateway.manage("GET", "/api/providers"))
      assert.lengthOf(connections, 1)

      const other = join(root, "other.sqlite")
      const database = yield* Handle.open(other, { readonly: false, busyTimeoutMs: 0 })
      database.exec("CREATE TABLE a (b); CREATE VIEW combos AS SELECT 1 AS id, 2 AS name, 3 AS data")
      const cases: ReadonlyArray<readonly [path: string, what: RegExp]> = [
        [other, /has no providers, nodes or combos of OmniRoute/],
        [file("torn.sqlite", `SQLite format 3\0${"x".repeat(5_000)}`), /no database that can be read/],
        [file("all.tar.gz", gzipSync("x")), /is an archive.*\n.*Unpack it/],
        [file("text", "neither"), /neither a SQLite database nor JSON/],
        [file("list.json", "[1]"), /has no providers/],
        [file("empty", ""), /neither a SQLite database nor JSON/],
        [join(root, "none"), /cannot be read/],
        [root, /cannot be read/]
      ]
      for (const [path, what] of cases) {
        const { code, stderr } = yield* at("import", "omniroute", path, "--yes")
        assert.strictEqual(code, 2, path)
        assert.match(stderr, what)
      }
      assert.deepStrictEqual(copies(), [])
    })
  )
})
