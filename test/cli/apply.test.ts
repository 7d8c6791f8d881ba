/** `gateway apply` and `export` on a real gateway. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { maxFileBytes } from "../../src/declared/ReadFile.ts"
import * as TestGateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"

let root = ""
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "gateway-apply-"))
  vi.stubEnv("HOME", root)
  vi.stubEnv("CELLAR_KEY", "sk-of-the-cellar")
  vi.stubEnv("CELLAR_MAIN_API_KEY", "sk-of-the-cellar")
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

const file = `version: 1
nodes:
  - { prefix: cellar, name: Server in the cellar, type: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }
connections:
  - { provider: cellar, name: main, apiKey: "\${CELLAR_KEY}", models: [small, large], priority: 2 }
combos:
  - { name: outer, targets: [{ model: "combo:inner" }] }
  - { name: inner, strategy: round-robin, targets: [{ model: cellar/small }, { model: cellar/large }] }
`

const at = (gateway: TestGateway.TestGateway, ...words: ReadonlyArray<string>) =>
  typed([...words, "--url", gateway.url, "--gateway-key", TestGateway.adminKey])

const written = (text: string): string => {
  const path = join(mkdtempSync(join(root, "file-")), "gateway.yaml")
  writeFileSync(path, text)
  return path
}

describe("gateway apply", () => {
  it.scopedLive("makes what the file declares, then has nothing to change; a change names its member", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const path = written(file)
      const dry = yield* at(gateway, "apply", "-f", path, "--dry-run")
      assert.match(dry.stderr, /\+ node cellar\n\+ connection cellar\/main\n\+ combo inner\n\+ combo outer/)
      assert.match((yield* at(gateway, "combo", "list", "--json")).stdout, /"combos": \[\]/)
      const first = yield* at(gateway, "apply", "-f", path, "--yes")
      assert.strictEqual(first.code, 0, first.stderr)
      assert.match(first.stderr, /4 changes made/)
      assert.notInclude(first.stdout + first.stderr, "sk-of-the-cellar")
      assert.match((yield* at(gateway, "apply", "-f", path)).stderr, /Nothing to change/)
      const changed = written(file.replace("priority: 2", "priority: 3"))
      assert.match(
        (yield* at(gateway, "apply", "-f", changed, "--yes")).stderr,
        /~ connection cellar\/main: priority\n/
      )
      assert.match((yield* at(gateway, "apply", "-f", changed)).stderr, /Nothing to change/)
    })
  )

  it.scopedLive("gives an empty gateway the same export", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* TestGateway.start(), yield* TestGateway.start()]
      yield* at(one, "apply", "-f", written(file), "--yes")
      const exported = yield* at(one, "export")
      assert.include(exported.stdout, "${CELLAR_MAIN_API_KEY}")
      assert.notInclude(exported.stdout, "sk-of-the-cellar")
      const applied = yield* at(other, "apply", "-f", written(exported.stdout), "--yes")
      assert.strictEqual(applied.code, 0, applied.stderr)
      assert.strictEqual((yield* at(other, "export")).stdout, exported.stdout)
    })
  )

  it.scopedLive("refuses a broken file and changes nothing", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const bomb = `a: &a [1,1,1,1,1,1,1,1,1,1]\n${["b", "c", "d", "e"]
        .map((name, at) => `${name}: &${name} [${Array(10).fill(`*${"abcd"[at]}`).join(",")}]`)
        .join("\n")}\n`
      const cases: ReadonlyArray<readonly [text: string, problem: RegExp]> = [
        ["version: [", /is no YAML/],
        [bomb, /uses its anchors too often/],
        ["#".repeat(maxFileBytes + 1), /is larger than/],
        ["[".repeat(200_000), /is nested too deeply|is no YAML/],
        [`${file}colour: red\n`, /colour/],
        [file.replace("priority: 2", "priority: high"), /connections\.0\.priority/],
        [file.replace("CELLAR_KEY", "NO_SUCH_KEY"), /variables that are not set: NO_SUCH_KEY/],
        [file.replace("name: outer", "name: inner"), /'inner' twice/]
      ]
      for (const [text, problem] of cases) {
        const { code, stderr } = yield* at(gateway, "apply", "-f", written(text), "--yes")
        assert.strictEqual(code, 2, stderr)
        assert.match(stderr, problem)
      }
      assert.match((yield* at(gateway, "provider", "list", "--json")).stdout, /"connections": \[\]/)
    })
  )
})
