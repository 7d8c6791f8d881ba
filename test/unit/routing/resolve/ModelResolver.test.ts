import { assert, describe, it } from "@effect/vitest"
import { maxComboDepth } from "../../../../src/subjects/combos/entity/ConfigFields.ts"
import { decodeStored, noPolicy } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import type { Combo } from "../../../../src/subjects/combos/entity.ts"
import type { Connection } from "../../../../src/subjects/connections/entity.ts"
import { ModelNotFound, NoTarget } from "../../../../src/contract/domain/Errors.ts"
import type { QuotaGroup } from "../../../../src/subjects/quotaGroups/entity.ts"
import { type Account, snapshot } from "../../../../src/plane/providers/Catalog.ts"
import { unknownFacts } from "../../../../src/plane/providers/ModelFacts.ts"
import { noThinkingPrefix } from "../../../../src/plane/routing/resolve/ModelIds.ts"
import { autoIds, maxPool, resolve, type Resolution } from "../../../../src/plane/routing/resolve/ModelResolver.ts"
import { combo, connection, node } from "../../../support/Records.ts"

const view = (
  connections: ReadonlyArray<Connection>,
  combos: ReadonlyArray<Combo> = [],
  aliases: Readonly<Record<string, string>> = {},
  groups: ReadonlyArray<QuotaGroup> = []
) => ({
  catalog: snapshot(connections, [node({ prefix: "mine" })], combos, {
    aliases: Object.entries(aliases).map(([alias, model]) => ({ alias, model })),
    quotaGroups: groups
  }),
  modelsOf: (account: Account) =>
    account.connection.models.length > 0 ? account.connection.models : [account.connection.defaultModel ?? "default"],
  factsOf: () => unknownFacts
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

  it("names the nearest ids also for a listed model mistyped without its provider", () => {
    const near = (id: string) => (resolve(view([openai, own]), id) as ModelNotFound).suggestions
    assert.include(near("gpt-4p"), "gpt-4o")
    assert.include(near("org/modle"), "org/model")
    assert.include(near("opnai/gpt-4o"), "openai/gpt-4o")
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

  it("serves every automatic id, and names the nearest for a wrong one", () => {
    const all = view([groq, openai])
    for (const id of [...autoIds, "auto/chat:floor"]) {
      const found = resolve(all, id)
      assert.deepStrictEqual(names(found), ["o1:gpt-4o", "g1:llama"], id)
      assert.strictEqual((found as Resolution).auto?.id, id)
      assert.deepStrictEqual((found as Resolution).weights, [1, 1])
    }
    assert.deepStrictEqual(
      ["auto", "auto/lkgp", "auto/cheap"].map((id) => (resolve(all, id) as Resolution).strategy),
      ["lkgp", "lkgp", "auto"]
    )
    const near = resolve(all, "auto/codng")
    assert.instanceOf(near, ModelNotFound)
    assert.include((near as ModelNotFound).suggestions, "auto/coding")
    const far = resolve(all, "auto/whatever-this-may-be")
    assert.include((far as ModelNotFound).suggestions, "auto/cheap")
  })

  it("takes no model that only embeds for automatic ids, and no account that has nothing else", () => {
    const mixed = connection({
      id: "o1",
      provider: "openai",
      models: ["text-embedding-3-small", "whisper-1", "gpt-4o"]
    })
    const chosen = connection({ id: "o2", provider: "openai", models: ["gpt-4o"], defaultModel: "gpt-5" })
    const embedsOnly = connection({ id: "v1", provider: "mine", models: ["voyage-3", "bge-m3"] })
    assert.deepStrictEqual(names(resolve(view([mixed, chosen, embedsOnly]), "auto")), ["o1:gpt-4o", "o2:gpt-5"])
    assert.instanceOf(resolve(view([embedsOnly]), "auto"), NoTarget)
    const paints = connection({ id: "o1", provider: "openai", models: ["gpt-image-1", "whisper-1", "gpt-4o"] })
    const told = {
      ...view([paints]),
      // What a model transcribes is text, too.
      factsOf: (_: Account, model: string) => ({
        ...unknownFacts,
        outputModalities: model === "gpt-4o" ? (["image"] as const) : (["text"] as const)
      })
    }
    assert.deepStrictEqual(names(resolve(told, "auto")), ["o1:gpt-image-1"])
  })

  it("holds no more candidates for automatic ids than it may", () => {
    const many = Array.from({ length: maxPool + 5 }, (_, index) =>
      connection({ id: `c${index}`, provider: "openai", priority: index, models: ["m"] })
    )
    const found = names(resolve(view(many), "auto"))
    assert.strictEqual(found.length, maxPool)
    assert.strictEqual(found[0], "c0:m")
  })

  it("gives an auto combo its own targets, else all that is connected", () => {
    const config = { explorationRate: 0 }
    const named = combo({ name: "some", strategy: "auto", targets: [{ model: "groq/llama" }], config })
    const open = combo({ name: "open", strategy: "auto", config })
    const all = view([openai, groq], [named, open])
    assert.deepStrictEqual(names(resolve(all, "some")), ["g1:llama"])
    assert.deepStrictEqual(names(resolve(all, "open")), ["o1:gpt-4o", "g1:llama"])
    for (const id of ["some", "open"]) {
      const { auto, policy, strategy } = resolve(all, id) as Resolution
      assert.deepStrictEqual([auto, policy, strategy], [null, decodeStored(config), "auto"])
    }
    assert.instanceOf(resolve(view([], [open]), "open"), NoTarget)
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

  it("shares the weight of a step between what it stands for", () => {
    const weighted = combo({
      name: "w",
      strategy: "weighted",
      targets: [{ model: "openai/gpt-4o", weight: 6 }, { model: "groq/llama" }, { model: "mine/x", weight: 0 }]
    })
    const all = view([openai, openaiSecond, groq, own], [weighted])
    const found = resolve(all, "w") as Resolution
    assert.deepStrictEqual(names(found), ["o1:gpt-4o", "o2:gpt-4o", "g1:llama", "m1:x"])
    assert.deepStrictEqual(found.weights, [3, 3, 1, 0])
    assert.deepStrictEqual(found.steps, [0, 0, 1, 2])
    const plain = resolve(all, "openai/gpt-4o") as Resolution
    assert.deepStrictEqual([plain.weights, plain.steps, plain.policy], [[0.5, 0.5], [0, 0], noPolicy])
  })

  it("multiplies the weights of nested combos, and adds up what is named twice", () => {
    const inner = combo({
      name: "inner",
      targets: [
        { model: "openai/gpt-4o", weight: 30 },
        { model: "groq/llama", weight: 10 }
      ]
    })
    const outer = combo({
      name: "outer",
      strategy: "weighted",
      targets: [
        { model: "combo:inner", weight: 2 },
        { model: "openai/gpt-4o", weight: 1 },
        { model: "inner", weight: 4 }
      ]
    })
    const found = resolve(view([openai, groq], [inner, outer]), "outer") as Resolution
    assert.deepStrictEqual(names(found), ["o1:gpt-4o", "g1:llama"])
    assert.deepStrictEqual(found.weights, [2 * 0.75 + 1 + 4 * 0.75, 2 * 0.25 + 4 * 0.25])
    assert.deepStrictEqual(found.steps, [0, 0])
    const weightless = combo({ name: "zero", targets: inner.targets.map(({ model }) => ({ model, weight: 0 })) })
    const over = combo({ name: "over", targets: [{ model: "combo:zero", weight: 8 }] })
    assert.deepStrictEqual((resolve(view([openai, groq], [weightless, over]), "over") as Resolution).weights, [4, 4])
  })

  it("follows aliases, also to combos, through one another and in combos", () => {
    const pair = combo({ name: "pair", targets: [{ model: "best" }, { model: "groq/llama" }] })
    const aliases = {
      best: "gpt",
      gpt: "openai/gpt-4o",
      both: "combo:pair",
      "team/fast": "auto/fast",
      quiet: `${noThinkingPrefix}openai/gpt-4o`
    }
    const all = view([openai, groq], [pair], aliases)
    assert.deepStrictEqual(names(resolve(all, "best")), ["o1:gpt-4o"])
    assert.deepStrictEqual(names(resolve(all, "best[1m]")), ["o1:gpt-4o"])
    assert.deepStrictEqual(names(resolve(all, "both")), ["o1:gpt-4o", "g1:llama"])
    assert.strictEqual((resolve(all, "both") as Resolution).combo?.name, "pair")
    assert.strictEqual((resolve(all, "team/fast") as Resolution).auto?.id, "auto/fast")
    assert.deepStrictEqual(suppressed(resolve(all, "quiet")), [true])
    assert.deepStrictEqual(suppressed(resolve(all, `${noThinkingPrefix}best`)), [true])
  })

  it("tells what an alias stands for when that is not there, and ends on aliases without an end", () => {
    const all = view([openai], [], { typo: "openia/gpt-4o", one: "two", two: `${noThinkingPrefix}one` })
    const typo = resolve(all, "typo") as ModelNotFound
    assert.strictEqual(typo.model, "typo")
    assert.include(typo.reason, "'openia/gpt-4o'")
    assert.include(typo.suggestions, "openai/gpt-4o")
    assert.instanceOf(resolve(all, "one"), ModelNotFound)
    const loop = combo({ name: "loop", targets: [{ model: "one" }] })
    assert.instanceOf(resolve(view([openai], [loop], { one: "two", two: "one" }), "loop"), NoTarget)
  })

  it("never lets an alias take a provider's prefix or a combo's name", () => {
    const best = combo({ name: "best", targets: [{ model: "groq/llama" }] })
    const all = view([openai, groq, own], [best], { "mine/org/model": "openai/gpt-4o", best: "openai/gpt-4o" })
    assert.deepStrictEqual(names(resolve(all, "mine/org/model")), ["m1:org/model"])
    assert.deepStrictEqual(names(resolve(all, "best")), ["g1:llama"])
  })

  it("resolves a quota-share id to the members at the provider, with their weights", () => {
    const team: QuotaGroup = {
      id: "q1",
      name: "team",
      members: [
        { connectionId: "o2", weight: 3 },
        { connectionId: "g1", weight: 5 },
        { connectionId: "o1", weight: 1 },
        { connectionId: "gone", weight: 1 }
      ],
      allocations: [],
      restricted: false,
      createdAtMs: 0,
      updatedAtMs: 0
    }
    const all = view([openai, openaiSecond, groq, own], [], {}, [team])
    const found = resolve(all, "qtSd/team/openai/gpt-4o") as Resolution
    assert.deepStrictEqual(names(found), ["o2:gpt-4o", "o1:gpt-4o"])
    assert.deepStrictEqual(found.weights, [0.75, 0.25])
    assert.deepStrictEqual([found.strategy, found.quotaGroup, found.combo], ["quota-share", "team", null])
    assert.deepStrictEqual(names(resolve(all, "qtSd/team/groq/org/llama")), ["g1:org/llama"])

    const near = resolve(all, "qtSd/tem/openai/gpt-4o") as ModelNotFound
    assert.include(near.reason, "there is no quota group 'tem'")
    assert.include(near.suggestions, "qtSd/team/openai/gpt-4o")
    for (const id of ["qtSd/team", "qtSd/team/openai/", "qtSd//openai/x", "qtSd/team/nobody/x", "qtSd/team/mine/x"]) {
      assert.instanceOf(resolve(all, id), ModelNotFound, id)
    }
    const asleep = view([{ ...openai, isActive: false }, groq], [], {}, [team])
    assert.instanceOf(resolve(asleep, "qtSd/team/openai/gpt-4o"), NoTarget)
  })

  it("names the nearest combos for a combo that is not there", () => {
    const all = view([openai], [combo({ name: "fast-pair", targets: [{ model: "openai/gpt-4o" }] })], {
      cheapest: "gpt-4o"
    })
    assert.deepStrictEqual((resolve(all, "combo:fast-pare") as ModelNotFound).suggestions, ["combo:fast-pair"])
    assert.include((resolve(all, "fast-pare") as ModelNotFound).suggestions, "fast-pair")
    assert.include((resolve(all, "cheapst") as ModelNotFound).suggestions, "cheapest")
  })
})
