import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EnvFile from "../../../src/cli/flags/EnvFile.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-env-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("EnvFile", () => {
  it("writes lines that read back as the same value", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "binary-ascii" }), (value) => {
        // The format itself turns CR LF into LF.
        FastCheck.pre(!value.includes("\r") && !value.includes("\u0000"))
        const line = EnvFile.line("NAME", value)
        if (line !== null) assert.strictEqual(EnvFile.parse(`${line}\nNEXT='1'\n`).get("NAME"), value)
      }),
      { seed: 3, numRuns: 2000 }
    )
  })

  it.scoped("keeps values in a file only its owner may read", () =>
    Effect.gen(function* () {
      const dataDir = join(yield* folder, "new")
      const values = new Map([
        ["GATEWAY_ADMIN_KEY", 'it\'s a "secret"'],
        ["PORT", "8080"]
      ])
      yield* EnvFile.write(dataDir, values)
      assert.strictEqual(statSync(EnvFile.envFile(dataDir)).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* EnvFile.read(dataDir), values)
    })
  )

  it.scoped("narrows a file that others could read", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      writeFileSync(EnvFile.envFile(dataDir), "PORT=1\n", { mode: 0o644 })
      yield* EnvFile.write(dataDir, new Map([["PORT", "2"]]))
      assert.strictEqual(statSync(EnvFile.envFile(dataDir)).mode & 0o777, 0o600)
    })
  )

  it.scoped("refuses what no quote can hold, and keeps the file", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      yield* EnvFile.write(dataDir, new Map([["A", "1"]]))
      const error = yield* Effect.flip(EnvFile.write(dataDir, new Map([["A", "'\"`"]])))
      assert.strictEqual(error._tag, "CommandFailed")
      assert.deepStrictEqual([...(yield* EnvFile.read(dataDir))], [["A", "1"]])
    })
  )
})
