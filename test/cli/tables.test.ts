/** Lists of a running gateway on terminals of 80 and 40 columns, and what the next command takes from them. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { adminKey, layerOf, TestApp } from "../http/management/TestApp.ts"
import { typed } from "../unit/cli/inProcess.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-tables-"))
beforeAll(() => void vi.stubEnv("DATA_DIR", folder))
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const asked = Effect.fnUntraced(function* (words: string, columns: number | null = null) {
  const { url } = yield* TestApp
  return yield* typed([...words.split(" "), "--url", url, "--gateway-key", adminKey], columns)
})

const longName = "the-team-that-works-on-weekends"

const prepared = Effect.gen(function* () {
  for (const line of [
    `combo create ${longName} openai/gpt-4o groq/llama-3.3-70b-versatile anthropic/claude-sonnet-4-5`,
    "combo create fast openai/gpt-4o",
    `key add ${longName}`,
    "key add laptop --scope manage"
  ]) {
    const { code, stderr } = yield* asked(line)
    assert.strictEqual(code, 0, stderr)
  }
  const app = yield* TestApp
  for (const name of [longName, "work"]) {
    const { status, text } = yield* app.admin("/api/providers", {
      method: "POST",
      body: { provider: "openai", name, apiKey: `sk-${name}-0123456789`, models: ["gpt-4o"] }
    })
    assert.strictEqual(status, 201, text)
  }
})

layer(layerOf(), { excludeTestServices: true })("lists on a terminal", (it) => {
  it.effect("fit 80 columns, and at 40 keep names and ids whole", () =>
    Effect.gen(function* () {
      yield* prepared
      for (const line of ["combo list", "key list", "provider list"]) {
        const normal = yield* asked(line, 80)
        assert.strictEqual(normal.code, 0, normal.stderr)
        assert.include(normal.stdout, longName)
        for (const each of normal.stdout.split("\n")) assert.isAtMost(each.length, 80, `${line}: ${each}`)

        const narrow = yield* asked(line, 40)
        assert.match(narrow.stdout, new RegExp(`^${longName} .*[0-9a-f]{8}`, "m"))
        const wide = yield* asked(`${line} -o wide`, 40)
        assert.match(wide.stdout, new RegExp(`^${longName} .*[0-9a-f]{8}-[0-9a-f-]{27}$`, "m"))
        const names = yield* asked(`${line} -o name`)
        assert.deepStrictEqual([names.stdout.split("\n").includes(longName), names.stderr], [true, ""])
      }
    })
  )

  it.effect("take the beginnings of keys that are shown", () =>
    Effect.gen(function* () {
      const { keys } = JSON.parse((yield* asked("key list --json")).stdout)
      const shown = yield* asked(`key show ${keys[0].prefix} --json`)
      assert.strictEqual(shown.code, 0, shown.stderr)
      assert.strictEqual(JSON.parse(shown.stdout).key.id, keys[0].id)
    })
  )

  it.effect("show ids that the next command takes", () =>
    Effect.gen(function* () {
      const { stdout } = yield* asked("combo list", 80)
      const id = /^fast .* (\S+)$/m.exec(stdout)?.[1] ?? ""
      assert.isBelow(id.length, 36)
      const removed = yield* asked(`combo delete ${id} --json`)
      assert.strictEqual(removed.code, 0, removed.stderr)
      assert.deepInclude(JSON.parse(removed.stdout), { name: "fast" })
    })
  )

  it.effect("refuse the beginning of several ids with their names", () =>
    Effect.gen(function* () {
      const { keys } = JSON.parse((yield* asked("key list --json")).stdout)
      const [first, second]: ReadonlyArray<string> = keys.map(({ id }: { readonly id: string }) => id)
      let shared = 0
      while (first?.[shared] === second?.[shared]) shared += 1
      const { code, stderr } = yield* asked(`key remove ${first?.slice(0, Math.max(4, shared))}`)
      if (shared < 4) return assert.strictEqual(code, 0)
      assert.strictEqual(code, 2)
      assert.include(stderr, "laptop")
      assert.include(stderr, longName)
    })
  )
})
