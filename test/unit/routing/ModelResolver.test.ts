import { assert, describe, it } from "@effect/vitest"
import type { Combo } from "../../../src/domain/Combo.ts"
import type { Connection } from "../../../src/domain/Connection.ts"
import { ModelNotFound, NoTarget } from "../../../src/domain/Errors.ts"
import { type Account, snapshot } from "../../../src/providers/Catalog.ts"
import { maxComboDepth, resolve, type Resolution } from "../../../src/routing/ModelResolver.ts"
import { combo, connection, node } from "../../support/Records.ts"

const view = (connections: ReadonlyArray<Connection>, combos: ReadonlyArray<Combo> = []) => ({
  catalog: snapshot(connections, [node({ prefix: "mine" })], combos),
  modelsOf: (account: Account) =>
    account.connection.models.length > 0 ? account.connection.models : [account.connection.defaultModel ?? "default"]
})

const names = (found: Resolution | ModelNotFound | NoTarget): ReadonlyArray<string> => {
  if (found instanceof Error) return assert.fail(`not resolved: ${found._tag}`)
  return found.targets.map(({ account, model }) => `${account.connection.id}:${model}`)
}

const openai = connection({ id: "o1", provider: "openai", models: ["gpt-4o", "gpt-4o-mini"] })
const openaiSecond = connection({ id: "o2", provider: "openai", priority: 5, models: ["gpt-5"] })
const groq = connection({ id: "g1", provider: "groq", priority: 9, defaultModel: "llama" })
const own = connection({ id: "m1", provider: "mine", models: ["org/model"] })

describe("ModelResolver", () => {
  it("takes the provider from the prefix, by id, alias or node", () => {
    assert.deepStrictEqual(names(resolve(view([openai]), "openai/gpt-4o")), ["o1:gpt-4o"])
    assert.deepStrictEqual(names(resolve(view([own]), "mine/org/model")), ["m1:org/model"])
  })

  it("orders accounts by priority, those that list the model first", () => {
    const both = view([openaiSecond, openai])
    assert.deepStrictEqual(names(resolve(both, "openai/gpt-4o")), ["o1:gpt-4o", "o2:gpt-4o"])
    assert.deepStrictEqual(names(resolve(both, "openai/gpt-5")), ["o2:gpt-5", "o1:gpt-5"])
    assert.deepStrictEqual(names(resolve(both, "openai/unheard-of")), ["o1:unheard-of", "o2:unheard-of"])
  })

  it("tells an unknown id from one that cannot be served now", () => {
    const sleeping = view([{ ...openai, isActive: false }])
    assert.instanceOf(resolve(sleeping, "openai/gpt-4o"), NoTarget)
    assert.instanceOf(resolve(sleeping, "groq/llama"), ModelNotFound)
    assert.instanceOf(resolve(sleeping, "nobody/knows"), ModelNotFound)
    assert.instanceOf(resolve(sleeping, "openai/"), ModelNotFound)
  })

  it("suggests ids that are near", () => {
    const missing = resolve(view([openai]), "openia/gpt-4o")
    assert.instanceOf(missing, ModelNotFound)
    assert.include((missing as ModelNotFound).suggestions, "openai/gpt-4o")
  })

  it("searches a bare id over what is connected", () => {
    assert.deepStrictEqual(names(resolve(view([openai, own]), "gpt-4o-mini")), ["o1:gpt-4o-mini"])
    assert.deepStrictEqual(names(resolve(view([openai, own]), "org/model")), ["m1:org/model"])
  })

  it("expands a combo in order, nested ones in place, each target once", () => {
    const inner = combo({ name: "inner", targets: [{ model: "groq/llama" }, { model: "openai/gpt-4o" }] })
    const outer = combo({ name: "outer", targets: [{ model: "openai/gpt-4o" }, { model: "combo:inner" }] })
    const all = view([openai, groq], [inner, outer])
    assert.deepStrictEqual(names(resolve(all, "outer")), ["o1:gpt-4o", "g1:llama"])
    assert.deepStrictEqual(names(resolve(all, "combo:outer")), ["o1:gpt-4o", "g1:llama"])
  })

  it("ties a target to its connection and leaves out what is not connected", () => {
    const tied = combo({
      name: "tied",
      targets: [{ model: "openai/gpt-4o", connectionId: "o2" }, { model: "mistral/large" }, { model: "groq/llama" }]
    })
    assert.deepStrictEqual(names(resolve(view([openai, openaiSecond, groq], [tied]), "tied")), [
      "o2:gpt-4o",
      "g1:llama"
    ])
    assert.instanceOf(resolve(view([], [tied]), "tied"), NoTarget)
  })

  it("ends on combos that refer to each other", () => {
    const a = combo({ name: "a", targets: [{ model: "combo:b" }, { model: "openai/gpt-4o" }] })
    const b = combo({ name: "b", targets: [{ model: "combo:a" }] })
    assert.deepStrictEqual(names(resolve(view([openai], [a, b]), "a")), ["o1:gpt-4o"])
  })

  it("follows nesting to the allowed depth", () => {
    const chain = Array.from({ length: maxComboDepth }, (_, level) =>
      combo({
        name: `level-${level}`,
        targets: [{ model: level === maxComboDepth - 1 ? "openai/gpt-4o" : `combo:level-${level + 1}` }]
      })
    )
    assert.deepStrictEqual(names(resolve(view([openai], chain), "level-0")), ["o1:gpt-4o"])
  })

  it("resolves auto to one target per account, and says so when there is none", () => {
    assert.deepStrictEqual(names(resolve(view([groq, openai]), "auto")), ["o1:gpt-4o", "g1:llama"])
    assert.instanceOf(resolve(view([]), "auto"), NoTarget)
  })
})
