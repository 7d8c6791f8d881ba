/** Documents that are made from the code must say what the code says. `UPDATE_DOCS=1 npm test -- test/arch/docs.test.ts` writes them anew. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { renderFieldTable } from "../../src/wire/fields/Render.ts"

const generated: ReadonlyArray<readonly [path: string, render: () => string]> = [
  [new URL("../../docs/wire-fields.md", import.meta.url).pathname, renderFieldTable]
]

describe("generated documents", () => {
  for (const [path, render] of generated) {
    it(`${path.slice(path.lastIndexOf("/") + 1)} is up to date`, () => {
      if (process.env["UPDATE_DOCS"] === "1") writeFileSync(path, render())
      assert.strictEqual(readFileSync(path, "utf8"), render())
    })
  }
})
