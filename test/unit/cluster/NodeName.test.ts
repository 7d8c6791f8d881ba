/** The name of a data folder among gateways on one database. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { nodeNameIn } from "../../../src/store/nodes/NodeName.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

describe("the name of a node", () => {
  it.scoped("is made once, and kept", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      assert.strictEqual(yield* nodeNameIn(folder, "first"), "first")
      assert.strictEqual(yield* nodeNameIn(folder, "second"), "first")
      assert.deepStrictEqual(readdirSync(folder), ["node-name"])
    })
  )

  it.scoped("is made anew where the file is empty, as after a full disk", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      writeFileSync(join(folder, "node-name"), "")
      assert.strictEqual(yield* nodeNameIn(folder, "fresh"), "fresh")
      assert.strictEqual(readFileSync(join(folder, "node-name"), "utf8"), "fresh\n")
    })
  )

  it.scoped("fails with a sentence where the folder is none", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = join(folder, "file")
      writeFileSync(file, "")
      const failed = yield* Effect.flip(nodeNameIn(file, "fresh"))
      assert.include(JSON.stringify(failed), file)
    })
  )
})
