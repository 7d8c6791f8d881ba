/** What a start says to a person: at the first one what to do next, and that can be typed as it stands. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { eventually } from "../../support/eventually.ts"
import * as Program from "../../support/Program.ts"

const hintOf = (text: string): string => /^ {2}(.* provider add)$/m.exec(text)?.[1] ?? ""

describe("the first start", () => {
  it.scopedLive("proposes a command that works as printed where nothing is on the path, and is short later on", () =>
    Effect.gen(function* () {
      const dataDir = yield* Program.dataFolder
      const text = { LOG_FORMAT: "text" }
      const first = yield* Program.start(text, dataDir)
      yield* Effect.promise(() =>
        eventually("the whole greeting", first.stderr, (shown) => shown.includes("Ctrl-C stops"))
      )
      const hint = hintOf(first.stderr())
      assert.notStrictEqual(hint, "", first.stderr())
      assert.include(first.stderr(), `Data folder: ${dataDir}`)
      // Typed into a shell of another folder, with nothing exported.
      const node = process.execPath.replace(/\/node$/, "")
      const shown = execFileSync("sh", ["-c", `${hint} ollama --base-url http://127.0.0.1:9 --no-verify --json`], {
        cwd: "/",
        env: { PATH: `${node}:/usr/bin:/bin`, HOME: "/nonexistent" },
        encoding: "utf8"
      })
      assert.strictEqual(JSON.parse(shown).connection.provider, "ollama")
      yield* first.stop

      const second = yield* Program.start(text, dataDir)
      yield* Effect.promise(() =>
        eventually("the greeting", second.stderr, (shown) => shown.includes("Providers: ollama"))
      )
      assert.strictEqual(hintOf(second.stderr()), "")
      assert.notInclude(second.stderr(), "Data folder")
    })
  )
})
