/** Each search provider's own form: what it is asked, and what is read of its answer. The answers are shortened from the documented examples. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { searchAdapters } from "../../../../src/wire/media/search/adapters/index.ts"
import { emptySearch, type Search } from "../../../../src/wire/media/search/Search.ts"
import type { SearchAdapterName } from "../../../../src/contract/domain/MediaKind.ts"

const plain: Search = { ...emptySearch, query: "a query" }

const full: Search = {
  ...plain,
  maxResults: 10,
  offset: 20,
  country: "DE",
  language: "de-AT",
  timeRange: "week",
  since: "2026-11-16",
  fullPage: true,
  format: "markdown",
  maxCharacters: 900,
  includeDomains: ["a.com", "b.com"],
  excludeDomains: ["c.com"],
  safeSearch: "strict",
  synthesis: true
}

interface Case {
  readonly plain: JsonObject
  readonly full: JsonObject
  readonly place?: Readonly<Record<string, string>>
  readonly answer: JsonObject
  readonly news?: JsonObject
  readonly first: JsonObject
  readonly more?: JsonObject
  /** Answers of the form without a result. */
  readonly empty: JsonObject
}

const operators = "a query (site:a.com OR site:b.com) -site:c.com"

const cases: Readonly<Record<SearchAdapterName, Case>> = {
  serper: {
    plain: { q: "a query", num: 5 },
    full: { q: operators, num: 10, gl: "de", hl: "de", tbs: "qdr:w", page: 3 },
    place: { kind: "search" },
    answer: {
      searchParameters: { q: "a query", type: "search" },
      answerBox: { answer: "42" },
      organic: [{ title: "T", link: "https://a.com/x", snippet: "S", date: "Nov 1, 2026", position: 1 }]
    },
    news: {
      news: [
        {
          title: "N",
          link: "https://n.com/1",
          snippet: "S",
          date: "2 hours ago",
          source: "N",
          imageUrl: "https://n.com/i"
        }
      ]
    },
    first: { title: "T", url: "https://a.com/x", snippet: "S", publishedAt: "Nov 1, 2026" },
    more: { answer: "42" },
    empty: { organic: [] }
  },
  brave: {
    plain: { q: "a query", count: 5 },
    full: {
      q: operators,
      count: 10,
      offset: 2,
      country: "DE",
      search_lang: "de",
      safesearch: "strict",
      freshness: "pw"
    },
    place: { kind: "web" },
    answer: {
      type: "search",
      web: {
        results: [
          {
            title: "T",
            url: "https://a.com/x",
            description: "S",
            page_age: "2026-11-01T00:00:00",
            extra_snippets: ["one", "two"],
            meta_url: { favicon: "https://a.com/f" }
          }
        ]
      }
    },
    news: { type: "news", results: [{ title: "N", url: "https://n.com/1", description: "S", age: "2 hours ago" }] },
    first: {
      title: "T",
      url: "https://a.com/x",
      snippet: "S",
      publishedAt: "2026-11-01T00:00:00",
      faviconUrl: "https://a.com/f"
    },
    empty: { type: "search", query: { original: "a query" } }
  },
  perplexity: {
    plain: { query: "a query", max_results: 5 },
    full: {
      query: "a query",
      max_results: 10,
      country: "DE",
      search_domain_filter: ["a.com", "b.com"],
      search_recency_filter: "week",
      search_language_filter: ["de"]
    },
    answer: {
      id: "1",
      results: [{ title: "T", url: "https://a.com/x", snippet: "S", date: "2026-11-01", last_updated: "2026-11-02" }]
    },
    first: {
      title: "T",
      url: "https://a.com/x",
      snippet: "S",
      publishedAt: "2026-11-01",
      metadata: { last_updated: "2026-11-02" }
    },
    empty: { id: "1", results: [] }
  },
  exa: {
    plain: { query: "a query", numResults: 5, contents: { highlights: true } },
    full: {
      query: "a query",
      numResults: 10,
      userLocation: "DE",
      includeDomains: ["a.com", "b.com"],
      excludeDomains: ["c.com"],
      startPublishedDate: "2026-11-16T00:00:00.000Z",
      moderation: true,
      contents: { highlights: true, text: { maxCharacters: 900 } }
    },
    answer: {
      requestId: "r",
      results: [
        {
          id: "x",
          title: "T",
          url: "https://a.com/x",
          publishedDate: "2026-11-01",
          author: "A",
          score: 0.5,
          text: "Whole",
          highlights: ["S", "more"],
          favicon: "https://a.com/f"
        }
      ],
      costDollars: { total: 0.005 }
    },
    first: {
      title: "T",
      url: "https://a.com/x",
      snippet: "S\nmore",
      score: 0.5,
      content: "Whole",
      publishedAt: "2026-11-01",
      metadata: { author: "A" }
    },
    empty: { results: [] }
  },
  tavily: {
    plain: { query: "a query", max_results: 5, topic: "general", include_favicon: true },
    full: {
      query: "a query",
      max_results: 10,
      topic: "general",
      time_range: "week",
      country: "germany",
      include_domains: ["a.com", "b.com"],
      exclude_domains: ["c.com"],
      include_answer: true,
      include_raw_content: "markdown",
      include_favicon: true,
      safe_search: true
    },
    answer: {
      query: "a query",
      answer: "In words.",
      results: [{ title: "T", url: "https://a.com/x", content: "S", score: 0.9, raw_content: "Whole" }]
    },
    first: { title: "T", url: "https://a.com/x", snippet: "S", score: 0.9, content: "Whole" },
    more: { answer: "In words." },
    empty: { results: [] }
  },
  "google-pse": {
    plain: { q: "a query", num: 5 },
    full: { q: operators, num: 10, start: 21, gl: "de", lr: "lang_de", safe: "active", dateRestrict: "w1" },
    answer: {
      kind: "customsearch#search",
      searchInformation: { totalResults: "1234" },
      items: [
        {
          title: "T",
          link: "https://a.com/x",
          snippet: "S",
          displayLink: "a.com",
          pagemap: { cse_thumbnail: [{ src: "https://a.com/i" }] }
        }
      ]
    },
    first: {
      title: "T",
      url: "https://a.com/x",
      snippet: "S",
      metadata: { display_link: "a.com", image_url: "https://a.com/i" }
    },
    more: { total: 1_234 },
    empty: { kind: "customsearch#search", searchInformation: { totalResults: "0" } }
  },
  linkup: {
    plain: { q: "a query", depth: "standard", outputType: "searchResults", maxResults: 5 },
    full: {
      q: "a query",
      depth: "standard",
      outputType: "sourcedAnswer",
      maxResults: 10,
      fromDate: "2026-11-16",
      includeDomains: ["a.com", "b.com"],
      excludeDomains: ["c.com"]
    },
    answer: { answer: "In words.", sources: [{ name: "T", url: "https://a.com/x", snippet: "S" }] },
    first: { title: "T", url: "https://a.com/x", snippet: "S" },
    more: { answer: "In words." },
    empty: { results: [] }
  },
  searchapi: {
    plain: { engine: "google", q: "a query" },
    full: { engine: "google", q: operators, gl: "de", hl: "de", time_period: "last_week", safe: "active", page: 3 },
    answer: {
      search_metadata: { status: "Success" },
      search_information: { total_results: 77 },
      organic_results: [
        {
          position: 1,
          title: "T",
          link: "https://a.com/x",
          snippet: "S",
          date: "Nov 1",
          favicon: "data:image/png;base64,x"
        }
      ]
    },
    first: { title: "T", url: "https://a.com/x", snippet: "S", publishedAt: "Nov 1", faviconUrl: null },
    more: { total: 77 },
    empty: { search_metadata: { status: "Success" }, error: "Google didn't return any results." }
  },
  youcom: {
    plain: { query: "a query", count: 5 },
    full: {
      query: "a query",
      count: 10,
      offset: 2,
      country: "DE",
      language: "de-AT",
      freshness: "week",
      safesearch: "strict",
      include_domains: ["a.com", "b.com"],
      exclude_domains: ["c.com"],
      livecrawl: "web",
      livecrawl_formats: ["markdown"]
    },
    answer: {
      results: {
        web: [
          {
            title: "T",
            url: "https://a.com/x",
            description: "D",
            snippets: ["S", "more"],
            page_age: "2026-11-01T00:00:00",
            favicon_url: "https://a.com/f",
            contents: { markdown: "# Whole" }
          }
        ]
      },
      metadata: { query: "a query", latency: 0.2 }
    },
    news: { results: { web: [], news: [{ title: "N", url: "https://n.com/1", description: "S" }] } },
    first: {
      title: "T",
      url: "https://a.com/x",
      snippet: "S\nmore",
      content: "# Whole",
      faviconUrl: "https://a.com/f"
    },
    empty: { results: {}, metadata: {} }
  },
  searxng: {
    plain: { q: "a query", format: "json", categories: "general" },
    full: {
      q: "a query",
      format: "json",
      categories: "general",
      language: "de-AT",
      pageno: 3,
      time_range: "week",
      safesearch: 2
    },
    answer: {
      query: "a query",
      number_of_results: 0,
      results: [
        {
          title: "T",
          url: "https://a.com/x",
          content: "S",
          engine: "brave",
          engines: ["brave", "bing"],
          score: 1.5,
          publishedDate: null
        }
      ],
      answers: [{ answer: "In words." }]
    },
    first: {
      title: "T",
      url: "https://a.com/x",
      snippet: "S",
      score: 1.5,
      metadata: { engine: "brave", engines: "brave\nbing" }
    },
    more: { answer: "In words." },
    empty: { results: [], answers: [] }
  },
  ollama: {
    plain: { query: "a query", max_results: 5 },
    full: { query: "a query", max_results: 10 },
    answer: { results: [{ title: "T", url: "https://a.com/x", content: "S" }] },
    first: { title: "T", url: "https://a.com/x", snippet: "S" },
    empty: { results: [] }
  }
}

const said = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))

const none: ReadonlyArray<JsonObject> = [
  {},
  { results: 7, organic: "x", web: {}, items: 5, organic_results: {} },
  { error: { message: "no" } },
  { message: "no", statusCode: 400 }
]

for (const [name, adapter] of Object.entries(searchAdapters)) {
  const each = cases[name as SearchAdapterName]
  describe(`searches at ${name}`, () => {
    it("is asked no more than the client says", () => {
      assert.deepStrictEqual(said(adapter.ask(plain).members), each.plain)
    })

    it("is asked everything that it can be told", () => {
      const { members, values } = adapter.ask(full)
      assert.deepStrictEqual(said(members), each.full)
      if (each.place !== undefined) assert.deepStrictEqual(values, each.place)
    })

    it("is read in its documented form", () => {
      const found = adapter.read(each.answer, plain)
      assert.strictEqual(found?.results.length, 1)
      assert.deepInclude(found?.results[0], each.first)
      assert.deepInclude(found, each.more ?? {})
    })

    it("may find nothing", () => {
      assert.deepStrictEqual(adapter.read(each.empty, plain)?.results, [])
    })

    it("is not read from what is no answer", () => {
      for (const body of none) assert.isNull(adapter.read(body, plain), JSON.stringify(body))
    })

    it("finds news where it says so", () => {
      assert.strictEqual(
        adapter.types.includes("news"),
        !["perplexity", "google-pse", "linkup", "ollama"].includes(name)
      )
      if (each.news !== undefined) {
        assert.deepInclude(adapter.read(each.news, { ...plain, type: "news" })?.results[0], {
          title: "N",
          snippet: "S"
        })
      }
    })
  })
}
