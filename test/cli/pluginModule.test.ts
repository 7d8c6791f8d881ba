/** What the build writes for authors of plugins, where the package's exports say. `test/install` uses it as a dependency. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { moduleTypes } from "../../src/agents/plugins/sdk/Declarations.ts"
import { program, project } from "./support.ts"

describe("the module gateway/plugin of the build", () => {
  const { main } = program()
  const built = (path: string): string => readFileSync(join(dirname(main), path.replace(/^\.\/dist\//, "")), "utf8")
  const { default: code, types } = manifest.exports["./plugin"]

  it("is the code that runs inside the sandbox, with the types that a new plugin gets", async () => {
    assert.strictEqual(built(code), readFileSync(join(project, "src/agents/plugins/sandbox/inside/sdk.js"), "utf8"))
    assert.include(built(types), moduleTypes())
    const sdk = await import(join(dirname(main), "plugin.mjs"))
    assert.deepStrictEqual(Object.keys(sdk).toSorted(), ["addMetadata", "blockRequest", "definePlugin", "modifyBody"])
    for (const name of Object.keys(sdk)) assert.include(moduleTypes(), `export function ${name}(`)
  })
})
