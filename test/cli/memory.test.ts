/** `gateway memory …` against a running gateway. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, vi } from "vitest"
import { adminKey, layerOf, TestApp } from "../http/management/TestApp.ts"
import { typed } from "../unit/cli/inProcess.ts"

beforeAll(() => void vi.stubEnv("DATA_DIR", "/nonexistent"))
afterAll(() => vi.unstubAllEnvs())

const asked = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { url } = yield* TestApp
  return yield* typed([...words, "--url", url, "--gateway-key", adminKey])
})

const json = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { code, stderr, stdout } = yield* asked(...words, "--json")
  assert.strictEqual(code, 0, stderr)
  return JSON.parse(stdout)
})

layer(layerOf(), { excludeTestServices: true })("gateway memory", (it) => {
  it.scoped("adds, finds, shows, changes and removes what is remembered", () =>
    Effect.gen(function* () {
      const empty = yield* asked("memory", "list")
      assert.include(empty.stderr + empty.stdout, "Nothing is remembered.")
      yield* json("key", "add", "laptop")
      const added = yield* json("memory", "add", "I write in Helix.", "--name", "editor", "--key", "laptop")
      assert.deepInclude(added.memory, { key: "editor", type: "factual", source: "added" })
      yield* json("memory", "add", "The tests run at night.", "--type", "procedural")

      const keysOf = ({ memories }: { memories: ReadonlyArray<{ key: string }> }) => memories.map(({ key }) => key)
      assert.lengthOf(keysOf(yield* json("memory", "list")), 2)
      assert.deepStrictEqual(keysOf(yield* json("memory", "list", "--key", "laptop")), ["editor"])
      assert.deepStrictEqual(keysOf(yield* json("memory", "ls", "--type", "factual")), ["editor"])
      assert.deepStrictEqual(keysOf(yield* json("memory", "search", "which", "helix")), ["editor"])
      const table = yield* asked("memory", "search", "nowhere")
      assert.include(table.stderr + table.stdout, "No memory has one of these words.")

      assert.include((yield* asked("memory", "show", "editor")).stdout, "I write in Helix.")
      const told = yield* asked("memory", "preview", "Is Helix good?", "--key", "laptop")
      assert.include(told.stdout, "Memory context:")
      const changed = yield* json("memory", "edit", "editor", "--content", "I write in Kakoune.")
      assert.strictEqual(changed.memory.content, "I write in Kakoune.")
      assert.strictEqual((yield* asked("memory", "edit", "editor")).code, 2)
      assert.deepInclude(yield* json("memory", "health", "--reindex"), { ok: true, entries: 2, indexed: 2 })

      const removed = yield* json("memory", "rm", "editor")
      assert.strictEqual(removed.key, "editor")
      assert.strictEqual((yield* asked("memory", "show", "editor")).code, 2)
    })
  )
})
