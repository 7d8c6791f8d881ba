import { assert, describe, it } from "@effect/vitest"
import type { Combo } from "../../../src/domain/Combo.ts"
import type { Connection } from "../../../src/domain/Connection.ts"
import { ModelNotFound, NoTarget } from "../../../src/domain/Errors.ts"
import { type Account, snapshot } from "../../../src/providers/Catalog.ts"
import { noThinkingPrefix } from "../../../src/routing/ModelIds.ts"
import { autoIds, maxComboDepth, resolve, type Resolution } from "../../../src/routing/ModelResolver.ts"
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

const suppressed = (found: Resolution | ModelNotFound | NoTarget): ReadonlyArray<boolean> =>
  found instanceof Error
    ? assert.fail(`not resolved: ${found._tag}`)
    : found.targets.map((one) => one.suppressReasoning)

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

  it("expands a combo once, however often it is named", () => {
    const repeated = (name: string, model: string) =>
      combo({ name, targets: Array.from({ length: 50 }, () => ({ model })) })
    const tower = Array.from({ length: maxComboDepth }, (_, level) =>
      repeated(`floor-${level}`, level === maxComboDepth - 1 ? "openai/gpt-4o" : `floor-${level + 1}`)
    )
    assert.deepStrictEqual(names(resolve(view([openai], tower), "floor-0")), ["o1:gpt-4o"])
    const itself = combo({ name: "self", targets: [{ model: "self" }, { model: `${noThinkingPrefix}self` }] })
    assert.instanceOf(resolve(view([openai], [itself]), "self"), NoTarget)
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

  it("serves the automatic ids that are advertised, and says so of the others", () => {
    const all = view([groq, openai])
    for (const id of autoIds) assert.deepStrictEqual(names(resolve(all, id)), ["o1:gpt-4o", "g1:llama"])
    const cheap = resolve(all, "auto/cheap")
    assert.instanceOf(cheap, ModelNotFound)
    assert.deepStrictEqual((cheap as ModelNotFound).suggestions, autoIds)
  })

  it("resolves the no-thinking alias to the model behind it, of any spelling", () => {
    const all = view([openai], [combo({ name: "mine-all", targets: [{ model: "openai/gpt-4o" }] })])
    for (const id of ["openai/gpt-4o", "gpt-4o", "mine-all", "openai/gpt-4o[1m]"]) {
      const found = resolve(all, noThinkingPrefix + id)
      assert.deepStrictEqual(names(found), ["o1:gpt-4o"], id)
      assert.deepStrictEqual(suppressed(found), [true], id)
    }
    assert.deepStrictEqual(suppressed(resolve(all, "openai/gpt-4o")), [false])
  })

  it("suppresses reasoning only for the member of a combo that asks for it", () => {
    const mixed = combo({
      name: "mixed",
      targets: [{ model: `${noThinkingPrefix}openai/gpt-4o` }, { model: "openai/gpt-4o" }, { model: "groq/llama" }]
    })
    const found = resolve(view([openai, groq], [mixed]), "mixed")
    assert.deepStrictEqual(names(found), ["o1:gpt-4o", "o1:gpt-4o", "g1:llama"])
    assert.deepStrictEqual(suppressed(found), [true, false, false])
  })

  it("tells failures of the alias by its own name, with near ids under it", () => {
    const missing = resolve(view([openai]), `${noThinkingPrefix}openia/gpt-4o`)
    assert.instanceOf(missing, ModelNotFound)
    assert.strictEqual((missing as ModelNotFound).model, `${noThinkingPrefix}openia/gpt-4o`)
    assert.include((missing as ModelNotFound).suggestions, `${noThinkingPrefix}openai/gpt-4o`)
    const asleep = resolve(view([{ ...openai, isActive: false }]), `${noThinkingPrefix}openai/gpt-4o`)
    assert.instanceOf(asleep, NoTarget)
    assert.strictEqual((asleep as NoTarget).model, `${noThinkingPrefix}openai/gpt-4o`)
  })

  it("takes suffixes that clients add for the same model, unless a model goes by that name", () => {
    const tagged = connection({ id: "l1", provider: "mine", models: ["llama3:latest", "long[1m]"] })
    const all = view([openai, tagged], [combo({ name: "pair", targets: [{ model: "openai/gpt-4o" }] })])
    const served: ReadonlyArray<readonly [asked: string, served: string]> = [
      ["openai/gpt-4o[1m]", "o1:gpt-4o"],
      ["gpt-4o[1m]", "o1:gpt-4o"],
      ["openai/unheard-of[1m]", "o1:unheard-of"],
      ["gpt-4o:latest", "o1:gpt-4o"],
      ["openai/gpt-4o:latest", "o1:gpt-4o"],
      ["openai/unheard-of:latest", "o1:unheard-of:latest"],
      ["mine/llama3", "l1:llama3:latest"],
      ["llama3", "l1:llama3:latest"],
      ["mine/long[1m]", "l1:long[1m]"],
      ["pair:latest", "o1:gpt-4o"],
      ["pair[1m]", "o1:gpt-4o"]
    ]
    for (const [asked, expected] of served) assert.deepStrictEqual(names(resolve(all, asked)), [expected], asked)
  })
})
