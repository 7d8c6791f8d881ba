import { assert, describe, it } from "@effect/vitest"
import type { Combo } from "../../../../src/subjects/combos/entity.ts"
import type { Connection } from "../../../../src/subjects/connections/entity.ts"
import { type CatalogueView, entriesOf } from "../../../../src/plane/catalogue/CatalogueEntries.ts"
import { snapshot } from "../../../../src/plane/providers/Catalog.ts"
import { type ModelFacts, unknownFacts } from "../../../../src/plane/providers/ModelFacts.ts"
import { advertisedAutoIds } from "../../../../src/plane/routing/resolve/AutoId.ts"
import { noThinkingPrefix } from "../../../../src/plane/routing/resolve/ModelIds.ts"
import { combo, connection, node } from "../../../support/Records.ts"

const known: Readonly<Record<string, Partial<ModelFacts>>> = {
  big: { contextLength: 200_000, maxOutputTokens: 64_000, vision: true, inputModalities: ["text", "image"] },
  small: { contextLength: 8_000, maxOutputTokens: 16_000, vision: false, inputModalities: ["text"] },
  claude: { name: "Claude", reasoning: true, toolCalling: true, noThinkingAlias: true, contextLength: 100 }
}

const view = (
  connections: ReadonlyArray<Connection>,
  combos: ReadonlyArray<Combo> = [],
  more: Partial<CatalogueView> = {}
): CatalogueView => ({
  snapshot: snapshot(connections, [node({ prefix: "mine" })], combos),
  modelsOf: (account) => account.connection.models,
  factsOf: (_, model) => ({ ...unknownFacts, ...known[model] }),
  includeNames: true,
  prefixMode: "canonical",
  ...more
})

const one = (of: CatalogueView, id: string) =>
  entriesOf(of).find((entry) => entry.id === id) ?? assert.fail(`${id} is not listed`)
const ids = (of: CatalogueView) => entriesOf(of).map((entry) => entry.id)

const gemini = connection({ id: "g1", provider: "gemini", models: ["big", "small"] })
const own = connection({ id: "m1", provider: "mine", priority: 3, models: ["small", "x"] })
const claude = connection({ id: "c1", provider: "anthropic", models: ["claude"] })

describe("CatalogueEntries", () => {
  it("lists aliases that lead somewhere, with what is known of their models", () => {
    const aliases = [
      { alias: "best", model: "gemini/big" },
      { alias: "lost", model: "nobody/knows" }
    ]
    const aliased = view([gemini], [], { snapshot: snapshot([gemini], [], [], { aliases }) })
    assert.strictEqual(one(aliased, "best").context_length, 200_000)
    assert.strictEqual(one(aliased, "best").owned_by, "alias")
    assert.notInclude(ids(aliased), "lost")
  })

  it("lists what can be asked for, each id once", () => {
    const inner = combo({ name: "inner", targets: [{ model: "gemini/big" }] })
    assert.deepStrictEqual(ids(view([gemini, { ...gemini, id: "g2" }, own], [inner])), [
      ...advertisedAutoIds,
      "inner",
      "gemini/big",
      "gemini/small",
      "mine/small",
      "mine/x"
    ])
    assert.deepStrictEqual(ids(view([])), [])
  })

  it("is valid for OpenAI's and Anthropic's clients, and leaves out what is not known", () => {
    assert.deepStrictEqual(one(view([own]), "mine/x"), {
      id: "mine/x",
      object: "model",
      type: "model",
      created: 0,
      created_at: "1970-01-01T00:00:00.000Z",
      owned_by: "mine",
      display_name: "mine/x",
      name: "mine/x"
    })
    assert.deepInclude(one(view([gemini]), "gemini/big"), {
      context_length: 200_000,
      max_output_tokens: 64_000,
      input_modalities: ["text", "image"],
      capabilities: { vision: true }
    })
  })

  it("shows names by flag only", () => {
    assert.deepInclude(one(view([claude]), "anthropic/claude"), { name: "Claude", display_name: "Claude" })
    const bare = one(view([claude], [], { includeNames: false }), "anthropic/claude")
    assert.notProperty(bare, "name")
    assert.strictEqual(bare.display_name, "anthropic/claude")
  })

  it("gives a combo the least of its members' limits, nested ones too, and what all can do", () => {
    const inner = combo({ name: "inner", targets: [{ model: "mine/small" }] })
    const outer = combo({ name: "outer", targets: [{ model: "gemini/big" }, { model: "combo:inner" }] })
    const odd = combo({ name: "odd", targets: [{ model: "gemini/big" }, { model: "mine/x" }] })
    const gone = combo({ name: "gone", targets: [{ model: "groq/none" }] })
    const all = view([gemini, own], [inner, outer, odd, gone])
    assert.deepInclude(one(all, "outer"), {
      owned_by: "combo",
      context_length: 8_000,
      max_output_tokens: 16_000,
      input_modalities: ["text"],
      capabilities: { vision: false }
    })
    // An unknown member does not change the limits, but nothing is promised for it.
    assert.strictEqual(one(all, "odd").context_length, 200_000)
    assert.notProperty(one(all, "odd"), "capabilities")
    assert.notProperty(one(all, "gone"), "context_length")
  })

  it("tells of auto the greatest window of its pool", () => {
    const first = { ...gemini, defaultModel: "small" }
    const second = connection({ id: "m2", provider: "mine", models: ["big"] })
    assert.strictEqual(one(view([first, second]), "auto").context_length, 200_000)
  })

  it("lists models with the prefixes of the mode", () => {
    const listed = (prefixMode: CatalogueView["prefixMode"]) =>
      ids(view([gemini, own], [], { prefixMode })).filter((id) => id.endsWith("/small"))
    assert.deepStrictEqual(listed("canonical"), ["gemini/small", "mine/small"])
    assert.deepStrictEqual(listed("alias"), ["google/small", "mine/small"])
    assert.deepStrictEqual(listed("dual"), ["gemini/small", "google/small", "mine/small"])
  })

  it("uses no alias that a node has taken", () => {
    const taken = {
      ...view([gemini], [], { prefixMode: "alias" }),
      snapshot: snapshot([gemini], [node({ prefix: "google" })], [])
    }
    assert.include(ids(taken), "google-ai-studio/small")
    assert.notInclude(ids(taken), "google/small")
  })

  it("offers the no-thinking alias once per model that takes it", () => {
    const alias = `${noThinkingPrefix}anthropic/claude`
    const all = view([claude, gemini], [], { prefixMode: "dual" })
    assert.deepStrictEqual(
      ids(all).filter((id) => id.startsWith(noThinkingPrefix)),
      [alias]
    )
    assert.deepInclude(one(all, alias), {
      owned_by: "anthropic",
      display_name: "Claude (no thinking)",
      context_length: 100,
      capabilities: { reasoning: false, tool_calling: true }
    })
  })
})
