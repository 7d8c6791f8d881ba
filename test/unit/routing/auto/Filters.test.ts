import { assert, describe, it } from "@effect/vitest"
import { applyFilters, estimateUsd, type FilterRequest } from "../../../../src/plane/routing/auto/Filters.ts"
import type { Candidate } from "../../../../src/plane/routing/candidate/Candidate.ts"
import { candidate, features, ids, spec } from "./support.ts"

const filtered = (
  candidates: ReadonlyArray<Candidate>,
  { id = "auto/coding", ...over }: Partial<FilterRequest> & { readonly id?: string } = {}
) => {
  const result = applyFilters(candidates, {
    filter: spec(id).filter,
    features: features(),
    candidatePool: null,
    budgetUsd: null,
    freeTierStrict: false,
    ...over
  })
  return {
    kept: result._tag === "Kept" ? ids(result.kept) : null,
    relaxed: result._tag === "Kept" ? result.relaxedFilters : null,
    out: result.exclusions.map(({ candidate: { target }, rule }) => `${target.account.connection.id}:${rule}`)
  }
}
const priced = (id: string, usd: number, over: Partial<Candidate> = {}) =>
  candidate(id, { price: { inputUsd: usd, outputUsd: usd }, ...over, facts: over.facts ?? {} })

describe("Filters", () => {
  it("takes only what is known to see for vision", () => {
    const pool = [
      candidate("a", { facts: { vision: true } }),
      candidate("b", { facts: { vision: false } }),
      candidate("c")
    ]
    const seen = { kept: ["a"], relaxed: [], out: ["b:vision", "c:vision"] }
    assert.deepStrictEqual(filtered(pool, { id: "auto/vision" }), seen)
    assert.deepStrictEqual(filtered(pool, { features: features({ hasImages: true }) }), seen)
    assert.deepStrictEqual(filtered(pool, { id: "auto/multimodal" }).kept, ["a"])
    assert.deepStrictEqual(filtered(pool.slice(1), { id: "auto/vision" }), {
      kept: ["b", "c"],
      relaxed: ["vision"],
      out: []
    })
    assert.deepStrictEqual(filtered(pool.slice(1), { id: "auto/multimodal" }).relaxed, ["multimodal"])
  })

  it("takes only what is known to reason for reasoning", () => {
    const pool = [candidate("a"), candidate("b", { facts: { reasoning: true } })]
    assert.deepStrictEqual(filtered(pool, { id: "auto/reasoning" }).kept, ["b"])
    assert.deepStrictEqual(filtered(pool.slice(0, 1), { id: "auto/reasoning:fast" }).relaxed, ["reasoning"])
  })

  it("leaves out what is known to lack a need, and reports when that would be all", () => {
    const asked = features({
      hasTools: true,
      wantsSchema: true,
      promptTokens: 5_000,
      maxOutputTokens: 2_000
    })
    const pool = [
      candidate("tools", { facts: { toolCalling: false } }),
      candidate("schema", { facts: { structuredOutput: false } }),
      candidate("window", { facts: { contextLength: 6_999 } }),
      candidate("output", { facts: { maxOutputTokens: 1_999 } }),
      candidate("exact", { facts: { contextLength: 7_000, maxOutputTokens: 2_000 } }),
      candidate("unknown")
    ]
    assert.deepStrictEqual(filtered(pool, { features: asked }), {
      kept: ["exact", "unknown"],
      relaxed: [],
      out: ["tools:tools", "schema:structured-output", "window:context-window", "output:max-output"]
    })
    for (const [index, rule] of (["tools", "structured-output", "context-window", "max-output"] as const).entries()) {
      const one = pool.slice(index, index + 1)
      assert.deepStrictEqual(filtered(one, { features: asked }), { kept: ids(one), relaxed: [rule], out: [] })
    }
  })

  it("relaxes each filter for itself", () => {
    const pool = [priced("dear", 9), priced("free", 0), candidate("seer", { facts: { vision: true } })]
    // No model has vision and is free: the free ones stay, vision is relaxed.
    assert.deepStrictEqual(filtered(pool.slice(0, 2), { id: "auto/vision:free" }), {
      kept: ["free"],
      relaxed: ["vision"],
      out: ["dear:free"]
    })
  })

  it("free and pro go by the model's tier; free may be strict", () => {
    const pool = [priced("dear", 9), priced("free", 0), candidate("unknown")]
    assert.deepStrictEqual(filtered(pool, { id: "auto/chat:free" }).kept, ["free"])
    assert.deepStrictEqual(filtered(pool, { id: "auto/chat:pro" }).kept, ["dear"])
    const paid = [priced("dear", 9), candidate("unknown")]
    assert.deepStrictEqual(filtered(paid, { id: "auto/chat:free" }), {
      kept: ["dear", "unknown"],
      relaxed: ["free"],
      out: []
    })
    assert.deepStrictEqual(filtered(paid, { id: "auto/chat:free", freeTierStrict: true }), {
      kept: null,
      relaxed: null,
      out: ["dear:free", "unknown:free"]
    })
    assert.deepStrictEqual(filtered(pool.slice(1, 2), { id: "auto/chat:pro", freeTierStrict: true }).relaxed, ["pro"])
  })

  it("restricts to the named providers", () => {
    const pool = [candidate("p#1"), candidate("q"), candidate("r", { spec: { aliases: ["rr"] } })]
    assert.deepStrictEqual(filtered(pool, { candidatePool: ["P", "rr"] }).kept, ["p#1", "r"])
    assert.deepStrictEqual(filtered(pool, { candidatePool: ["nobody"] }).relaxed, ["candidate-pool"])
  })

  it("estimates from the real prompt and the client's limit, else a sane one", () => {
    const dear = candidate("a", { price: { inputUsd: 2, outputUsd: 10 } })
    assert.strictEqual(estimateUsd(dear, features({ promptTokens: 1_000, maxOutputTokens: 500 })), 0.007)
    assert.strictEqual(estimateUsd(dear, features({ promptTokens: 0 })), (1_024 * 10) / 1e6)
    const short = candidate("b", { price: { inputUsd: 2, outputUsd: 10 }, facts: { maxOutputTokens: 100 } })
    assert.strictEqual(estimateUsd(short, features({ promptTokens: 0 })), 0.001)
    assert.strictEqual(estimateUsd(candidate("c"), features()), null)
  })

  it("keeps what the budget allows; the cheapest healthy one when it allows nothing", () => {
    const asked = features({ promptTokens: 500_000, maxOutputTokens: 500_000 })
    const pool = [priced("three", 3), priced("one#1", 1), priced("one#2", 1), candidate("unpriced")]
    assert.deepStrictEqual(filtered(pool, { features: asked, budgetUsd: 1 }), {
      kept: ["one#1", "one#2", "unpriced"],
      relaxed: [],
      out: ["three:budget"]
    })
    assert.deepStrictEqual(filtered(pool.slice(0, 3), { features: asked, budgetUsd: 0.5 }), {
      kept: ["one#1", "one#2"],
      relaxed: ["budget"],
      out: ["three:budget"]
    })
    assert.deepStrictEqual(
      filtered([priced("sick", 1, { breaker: "OPEN" }), priced("three", 3), priced("four", 4)], {
        features: asked,
        budgetUsd: 0.5
      }).kept,
      ["three"]
    )
    assert.deepStrictEqual(
      filtered([priced("sick", 1, { breaker: "OPEN" })], { features: asked, budgetUsd: 0.5 }).kept,
      ["sick"]
    )
  })
})
