import { assert, describe, it } from "@effect/vitest"
import {
  advertisedAutoIds,
  allAutoIds,
  invokableAutoIds,
  nearAutoIds,
  parseAutoId
} from "../../../../src/plane/routing/resolve/AutoId.ts"

const summary = (id: string) => {
  const spec = parseAutoId(id)
  if (spec === null) return null
  const { sight, reasoning, tier } = spec.filter
  return [spec.pack, spec.routerStrategy, spec.explorationRate, sight, reasoning, tier]
}

describe("AutoId", () => {
  it("reads variants", () => {
    assert.deepStrictEqual(summary("auto"), ["default", "lkgp", 0.05, null, false, null])
    assert.deepStrictEqual(summary("auto/lkgp"), summary("auto"))
    assert.deepStrictEqual(summary("auto/coding"), ["quality-first", "rules", 0.05, null, false, null])
    assert.deepStrictEqual(summary("auto/fast"), ["ship-fast", "rules", 0.05, null, false, null])
    assert.deepStrictEqual(summary("auto/cheap"), ["cost-saver", "cost", 0.05, null, false, null])
    assert.deepStrictEqual(summary("auto/offline"), ["offline-friendly", "rules", 0.05, null, false, null])
    assert.deepStrictEqual(summary("auto/smart"), ["quality-first", "rules", 0.1, null, false, null])
  })

  it("reads categories and tiers; without a tier the weights are balanced", () => {
    assert.deepStrictEqual(summary("auto/reasoning"), ["default", "rules", 0.05, null, true, null])
    assert.deepStrictEqual(summary("auto/vision"), ["default", "rules", 0.05, "vision", false, null])
    assert.deepStrictEqual(summary("auto/multimodal:cheap"), ["cost-saver", "rules", 0.05, "multimodal", false, null])
    assert.deepStrictEqual(summary("auto/chat:floor"), ["cost-saver", "rules", 0.05, null, false, null])
    assert.deepStrictEqual(summary("auto/coding:fast"), ["ship-fast", "rules", 0.05, null, false, null])
    assert.deepStrictEqual(summary("auto/chat:reliable"), ["reliability-first", "rules", 0.05, null, false, null])
    assert.deepStrictEqual(summary("auto/coding:free"), ["default", "rules", 0.05, null, false, "free"])
    assert.deepStrictEqual(summary("auto/reasoning:pro"), ["default", "rules", 0.05, null, true, "pro"])
  })

  it("refuses everything else, with near misses", () => {
    for (const id of [
      "autos",
      "auto/",
      "auto/fast:cheap",
      "auto/coding:",
      "auto/coding:ultra",
      "auto/coding:fast:free",
      "auto/toString",
      "auto/constructor:fast",
      "AUTO",
      "openai/auto",
      ""
    ]) {
      assert.strictEqual(parseAutoId(id), null, id)
    }
    assert.include(nearAutoIds("auto/codin"), "auto/coding")
    assert.include(nearAutoIds("auto/vison:fast"), "auto/vision:fast")
    assert.deepStrictEqual(nearAutoIds("a-wholly-different-name"), [])
  })

  it("lists 7 invokable ids, and nothing that does not resolve", () => {
    assert.strictEqual(invokableAutoIds.length, 7)
    for (const id of [...advertisedAutoIds, ...allAutoIds]) assert.notStrictEqual(parseAutoId(id), null, id)
    assert.strictEqual(new Set(advertisedAutoIds).size, advertisedAutoIds.length)
    // 7, and 5 categories × (none, 6 spellings of tiers), of which the variant auto/coding is counted already.
    assert.strictEqual(allAutoIds.length, 7 + 5 * 7 - 1)
  })
})
