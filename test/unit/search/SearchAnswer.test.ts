/** What counts as the answer to a search is what the API document says of it. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { SearchAnswer } from "../../../src/contract/compat/Search.ts"
import { isSearchAnswer } from "../../../src/plane/search/SearchAnswer.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../src/wire/json/Json.ts"

const answer: JsonObject = {
  id: "r1",
  object: "search",
  provider: "own",
  query: "gateway",
  results: [
    {
      title: "Gateways",
      url: "https://example.com/gateways",
      display_url: "example.com/gateways",
      snippet: "What a gateway is.",
      position: 1,
      score: 0.9,
      published_at: "2035-01-01",
      favicon_url: "https://example.com/i.png",
      content: "All of it.",
      metadata: { language: "en" },
      citation: { provider: "own", retrieved_at: "2035-01-01T00:00:00.000Z", rank: 1 }
    }
  ],
  answer: "It passes requests on.",
  usage: { queries_used: 1, search_cost_usd: 0.008, llm_tokens: 0 },
  metrics: { response_time_ms: 412, upstream_latency_ms: 405, total_results_available: 120 },
  cached: false,
  errors: [{ provider: "brave", status: 503, reason: "http_503" }]
}

/** Every answer that differs in one place: another type there, null, or nothing. */
const variants = (value: Json | undefined): ReadonlyArray<Json | undefined> => {
  const others: ReadonlyArray<Json | undefined> = [undefined, null, "text", 5, true, [], {}]
  if (isArray(value)) return [...others, ...value.flatMap((item) => variants(item).map((other) => [other as Json]))]
  if (!isObject(value)) return others
  return [
    ...others,
    ...Object.entries(value).flatMap(([name, member]) =>
      variants(member).map((other) =>
        Object.fromEntries(
          Object.entries(value).flatMap(([at, kept]) =>
            at !== name ? [[at, kept]] : other === undefined ? [] : [[at, other]]
          )
        )
      )
    )
  ]
}

const urlOf = ({ results }: JsonObject): Json | undefined => {
  const [first] = isArray(results) ? results : []
  return isObject(first) ? first["url"] : undefined
}

const isPublished = Schema.is(SearchAnswer)

describe("an answer to a search", () => {
  it("is what is published", () => {
    assert.isTrue(isSearchAnswer(answer))
    assert.isTrue(isPublished(answer))
    const all = variants(answer).filter(isObject)
    const verdicts = all.map((each) => ({ each, own: isSearchAnswer(each), published: isPublished(each) }))
    const differing = verdicts.filter(({ own, published }) => own !== published).map(({ each }) => urlOf(each))
    assert.deepStrictEqual(differing, ["text"], "an address has to be one, and that is all that is asked beside")
    assert.isAbove(verdicts.filter(({ own }) => own).length, 10)
    assert.isAbove(verdicts.filter(({ own }) => !own).length, 100)
  })

  it("has as many results as a search may ask for, with addresses that can be followed", () => {
    const results = answer["results"] as ReadonlyArray<JsonObject>
    const many = (count: number) => ({ ...answer, results: Array.from({ length: count }, () => results[0] ?? {}) })
    assert.deepStrictEqual(
      [isSearchAnswer(many(0)), isSearchAnswer(many(100)), isSearchAnswer(many(101))],
      [true, true, false]
    )
    for (const url of ["javascript:alert(1)", "/path", "https://", `https://example.com/${"a".repeat(8_192)}`]) {
      assert.isFalse(isSearchAnswer({ ...answer, results: [{ ...results[0], url }] }), url.slice(0, 40))
    }
  })
})
