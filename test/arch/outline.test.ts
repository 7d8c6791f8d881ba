import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { outlineModule } from "../../bin/outline.mjs"

describe("the module that makes outlines of bodies", () => {
  it("is what native/outline compiles to", async () => {
    const kept = readFileSync(new URL("../../src/wire/json/outline/module.generated.ts", import.meta.url), "utf8")
    assert.strictEqual(kept, await outlineModule(), "run `node bin/outline.mjs`")
  }, 120_000)
})
