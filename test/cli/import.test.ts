/** `gateway import` against a running gateway. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import * as Fake from "../support/FakeUpstream.ts"
import * as TestGateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"

let root = ""
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "gateway-import-"))
  vi.stubEnv("HOME", root)
  vi.stubEnv("XDG_CONFIG_HOME", "")
  vi.stubEnv("CELLAR_KEY", "key-of-the-cellar-5678")
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

describe("gateway import litellm", () => {
  it.scopedLive("takes over what answers afterwards, and has nothing to change the second time", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      const at = (...words: ReadonlyArray<string>) =>
        typed([...words, "--url", gateway.url, "--gateway-key", TestGateway.adminKey])
      const file = join(root, "config.yaml")
      writeFileSync(
        file,
        `model_list:
  - model_name: house model
    litellm_params: { model: openai/small, api_base: "${upstream.origin}/v1", api_key: os.environ/CELLAR_KEY }
  - model_name: house model
    litellm_params: { model: openai/large, api_base: "${upstream.origin}/v1", api_key: os.environ/CELLAR_KEY }
`
      )
      const dry = yield* at("import", "litellm", file, "--dry-run")
      assert.strictEqual(dry.code, 0, dry.stderr)
      assert.match(dry.stderr, /\+ combo house model/)
      assert.match((yield* at("combo", "list", "--json")).stdout, /"combos": \[\]/)
      const done = yield* at("import", "litellm", file, "--yes", "--json")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.lengthOf(JSON.parse(done.stdout).changes, 3)
      const again = yield* at("import", "litellm", file, "--json")
      assert.deepStrictEqual(JSON.parse(again.stdout).changes, [])
      upstream.always(Fake.json(Fake.chatCompletion()))
      const answer = yield* Effect.promise(() =>
        fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${TestGateway.adminKey}` },
          body: JSON.stringify({ model: "house model", messages: [{ role: "user", content: "Hi" }] })
        })
      )
      assert.strictEqual(answer.status, 200)
      const printed = yield* at("import", "litellm", file, "--print")
      assert.include(printed.stdout, "${CELLAR_KEY}")
      assert.notInclude(printed.stdout, "key-of-the-cellar")
    })
  )
})

describe("gateway import env", () => {
  it.scopedLive("makes connections of a file's variables once, and shows no value", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const at = (...words: ReadonlyArray<string>) =>
        typed([...words, "--url", gateway.url, "--gateway-key", TestGateway.adminKey])
      const file = join(root, "keys.env")
      writeFileSync(file, "GROQ_API_KEY='gsk-of-the-file-1234567890'\nSTRANGE_API_KEY=strange-of-the-file\n")
      const done = yield* at("import", "env", "--file", file, "--yes", "--json")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.include(done.stdout, "groq/imported")
      assert.notInclude(done.stdout + done.stderr, "of-the-file")
      const again = yield* at("import", "env", "--file", file, "--json")
      assert.deepStrictEqual(JSON.parse(again.stdout).changes, [])
      const missing = yield* at("import", "env", "--file", join(root, "none.env"))
      assert.notStrictEqual(missing.code, 0)
      writeFileSync(file, '{"GROQ_API_KEY": "x"}')
      const wrong = yield* at("import", "env", "--file", file)
      assert.match(wrong.stderr, /has no line NAME=value/)
    })
  )
})

describe("gateway import ollama", () => {
  it.scopedLive("connects a running Ollama once, and says what else answers there", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const ollama = yield* Fake.start
      ollama.lists(Fake.json({ models: [{ name: "llama3.2:3b", model: "llama3.2:3b" }] }))
      const at = (...words: ReadonlyArray<string>) =>
        typed([...words, "--url", gateway.url, "--gateway-key", TestGateway.adminKey])
      const done = yield* at("import", "ollama", ollama.origin, "--yes", "--json")
      assert.strictEqual(done.code, 0, done.stderr)
      const { changes, report } = JSON.parse(done.stdout)
      assert.lengthOf(changes, 1)
      assert.deepInclude(report, { what: "ollama/llama3.2:3b", result: "taken", reason: "" })
      const again = yield* at("import", "ollama", ollama.origin, "--json")
      assert.deepStrictEqual(JSON.parse(again.stdout).changes, [])
      for (const [answer, why] of [
        [Fake.json({ object: "list" }), /is no Ollama/],
        [Fake.json({ models: "x".repeat(5_000_000) }), /larger than 4 MiB/],
        [Fake.json({ error: "no" }, { status: 500 }), /status 500/]
      ] as const) {
        ollama.lists(answer)
        const wrong = yield* at("import", "ollama", ollama.origin)
        assert.strictEqual(wrong.code, 2)
        assert.match(wrong.stderr, why)
      }
      const none = yield* at("import", "ollama", "http://127.0.0.1:1")
      assert.match(none.stderr, /No Ollama answers/)
    })
  )
})
