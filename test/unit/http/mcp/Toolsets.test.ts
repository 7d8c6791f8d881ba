/** Which tools a request wants listed, and how. */
import { assert, describe, it } from "@effect/vitest"
import { wishOf } from "../../../../src/entry/mcp/Toolsets.ts"

const wish = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  wishOf({ url, header: (name) => headers[name] ?? null })

describe("wishOf", () => {
  it("reads the address before the header, and says what there is", () => {
    assert.deepStrictEqual(wish("/mcp"), { toolsets: null, schemas: null })
    assert.deepStrictEqual(wish("/mcp?toolsets=models, Usage,&schemas=FULL"), {
      toolsets: new Set(["models", "usage"] as const),
      schemas: "full"
    })
    assert.deepStrictEqual(
      wish("/mcp?toolsets=cache", { "x-gateway-mcp-toolsets": "models", "x-gateway-mcp-schemas": "input" }),
      { toolsets: new Set(["cache"] as const), schemas: "input" }
    )
    assert.deepStrictEqual(wish("/mcp?toolsets=all,cache"), { toolsets: null, schemas: null })
    assert.match(String(wish("/mcp?toolsets=model")), /no toolset 'model'.*models/)
    assert.match(String(wish("/mcp?schemas=none")), /short, input, full/)
    assert.match(String(wish(`/mcp?toolsets=${"x".repeat(2_000)}`)), /at most 1000/)
  })
})
