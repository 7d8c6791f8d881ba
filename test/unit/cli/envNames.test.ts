/** `gateway env` knows every variable that the gateway reads. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { ownNames } from "../../../src/cli/commands/env.ts"

const source = readFileSync(new URL("../../../src/platform/AppConfig.ts", import.meta.url), "utf8")

describe("gateway env", () => {
  it("knows what the configuration is read from", () => {
    const read = source.match(/"[A-Z][A-Z_]{3,}"/g) ?? []
    assert.isAbove(read.length, 10)
    assert.deepStrictEqual(
      read.map((name) => name.slice(1, -1)).filter((name) => !ownNames.includes(name)),
      []
    )
  })
})
