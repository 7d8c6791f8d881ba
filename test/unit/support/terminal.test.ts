/** The pseudo-terminal of the tests itself. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { tmpdir } from "node:os"
import * as Terminal from "../../support/Terminal.ts"

const env = { PATH: process.env["PATH"] ?? "" }

describe("a terminal of a test", () => {
  it.scoped("has the size it was given, takes what is typed, and tells how its program ended", () =>
    Effect.gen(function* () {
      const script = "stty size; printf 'name? '; read name; printf 'hello %s\\n' \"$name\"; exit 3"
      const terminal = yield* Terminal.open(["sh", "-c", script], { env, cwd: tmpdir(), columns: 40, rows: 10 })
      assert.include(yield* terminal.shows(/name\?$/m), "10 40")
      terminal.type("Anna\r")
      yield* terminal.shows(/hello Anna/)
      assert.strictEqual(yield* terminal.ended, 3)
    })
  )

  it.scoped("shows what is left on the screen, not what was written over", () =>
    Effect.gen(function* () {
      const terminal = yield* Terminal.open(["sh", "-c", "printf 'wait\\rdone\\033[K\\n'"], { env, cwd: tmpdir() })
      assert.strictEqual(yield* terminal.ended, 0)
      assert.strictEqual(terminal.screen(), "done")
    })
  )
})
