/** `POST /v1/search` over HTTP: providers of different forms behind one address, with the rules of every other request. */
import { assert, describe } from "@effect/vitest"
import * as Fake from "../../support/FakeUpstream.ts"
import { json, scenario } from "../../support/Searches.ts"

const wrongs: ReadonlyArray<readonly [body: object | string, param: string | null]> = [
  ["no json", null],
  ["[]", "body"],
  [{}, "query"],
  [{ query: "" }, "query"],
  [{ query: "  " }, "query"],
  [{ query: 5 }, "query"],
  [{ query: "a".repeat(501) }, "query"],
  [{ query: "a\nb" }, "query"],
  [{ query: "a\u0000b" }, "query"],
  [{ query: "q", max_results: 0 }, "max_results"],
  [{ query: "q", max_results: 101 }, "max_results"],
  [{ query: "q", max_results: 1.5 }, "max_results"],
  [{ query: "q", max_results: "5" }, "max_results"],
  [{ query: "q", search_type: "images" }, "search_type"],
  [{ query: "q", offset: -1 }, "offset"],
  [{ query: "q", country: "Germany" }, "country"],
  [{ query: "q", language: "deutsch!" }, "language"],
  [{ query: "q", time_range: "decade" }, "time_range"],
  [{ query: "q", filters: { include_domains: ["a b"] } }, "filters.include_domains[0]"],
  [{ query: "q", filters: { exclude_domains: "a.com" } }, "filters.exclude_domains"],
  [{ query: "q", filters: { safe_search: "very" } }, "filters.safe_search"],
  [{ query: "q", content: { format: "pdf" } }, "content.format"],
  [{ query: "q", provider_options: { x: "y".repeat(9_000) } }, "provider_options"],
  [{ query: "q", provider: "altavista" }, "provider"],
  [{ query: "q", provider: "openai" }, "provider"],
  [{ query: "q", provider: "exa" }, "provider"]
]

describe("POST /v1/search", () => {
  scenario(
    "asks a provider in its own form and answers in the gateway's",
    async ({ connect, gateway, search, tavily }) => {
      await connect("tavily", tavily)
      const response = await search({
        query: " what is a gateway? ",
        max_results: 1,
        search_type: "news",
        time_range: "week",
        filters: { include_domains: ["Example.com"], exclude_domains: ["b.com"], safe_search: true },
        content: { full_page: true, format: "markdown" },
        unknown_field: 1
      })
      assert.strictEqual(response.status, 200)
      const [asked] = tavily.requests
      assert.strictEqual(asked?.method, "POST")
      assert.strictEqual(asked?.url, "/search")
      assert.strictEqual(asked?.headers.authorization, "Bearer key-of-tavily")
      assert.deepStrictEqual(JSON.parse(asked?.body ?? ""), {
        query: "what is a gateway?",
        max_results: 1,
        topic: "news",
        time_range: "week",
        include_domains: ["example.com"],
        exclude_domains: ["b.com"],
        include_raw_content: "markdown",
        include_favicon: true,
        safe_search: true
      })
      assert.strictEqual(response.headers.get("x-gateway-cache"), "MISS")
      assert.strictEqual(response.headers.get("x-gateway-provider"), "tavily")
      assert.strictEqual(response.headers.get("x-gateway-dropped"), "unknown_field")
      const answer = await json(response)
      const id = response.headers.get("x-gateway-request-id") ?? ""
      assert.deepInclude(answer, { id, provider: "tavily", query: "what is a gateway?", cached: false, errors: [] })
      assert.strictEqual(answer.results.length, 1)
      const { citation, ...first } = answer.results[0]
      assert.deepStrictEqual(first, {
        title: "Gateways",
        url: "https://example.com/gateways",
        display_url: "example.com/gateways",
        snippet: "What a gateway is.",
        position: 1,
        score: 0.9,
        published_at: null,
        favicon_url: "https://example.com/i.png",
        content: null,
        metadata: {}
      })
      assert.deepInclude(citation, { provider: "tavily", rank: 1 })
      assert.isNumber(answer.metrics.response_time_ms)
      assert.isNumber(answer.metrics.upstream_latency_ms)
      const row = await gateway.usageRow(id)
      assert.deepInclude(row, {
        provider: "tavily",
        model: "search",
        requestedModel: "search",
        outcome: "completed",
        attempts: 1
      })
      assert.strictEqual(row.costUsd, answer.usage.search_cost_usd)
    }
  )

  scenario("asks a provider that takes its questions in the address", async ({ brave, connect, search }) => {
    await connect("brave", brave)
    const response = await search({
      query: "a & b",
      country: "de",
      language: "de-DE",
      filters: { include_domains: ["a.com", "b.com"] }
    })
    assert.strictEqual(response.status, 200)
    const [asked] = brave.requests
    const url = new URL(asked?.url ?? "", "http://x")
    assert.strictEqual(asked?.method, "GET")
    assert.strictEqual(asked?.body, "")
    assert.strictEqual(asked?.headers["content-type"], undefined)
    assert.strictEqual(asked?.headers["x-subscription-token"], "key-of-brave")
    assert.strictEqual(url.pathname, "/res/v1/web/search")
    assert.deepStrictEqual(Object.fromEntries(url.searchParams), {
      q: "a & b (site:a.com OR site:b.com)",
      count: "5",
      country: "DE",
      search_lang: "de"
    })
    assert.strictEqual((await json(response)).results[0].url, "https://brave.example/one")
  })

  scenario("goes to the provider of the best priority, and to the next when it fails", async (room) => {
    const { brave, connectBoth, gateway, search, tavily } = room
    await connectBoth()
    assert.strictEqual((await json(await search({ query: "one" }))).provider, "tavily")
    assert.strictEqual(brave.requests.length, 0)
    tavily.always(Fake.json({ detail: { error: "down" } }, { status: 503 }))
    const response = await search({ query: "two" })
    const answer = await json(response)
    assert.strictEqual(response.status, 200)
    assert.strictEqual(answer.provider, "brave")
    assert.strictEqual(response.headers.get("x-gateway-fallback-attempts"), "1")
    assert.deepInclude(answer.errors[0], { provider: "tavily", status: 503 })
    const row = await gateway.usageRow(answer.id)
    assert.deepInclude(row, { provider: "brave", model: "search", outcome: "completed" })
    // It rests: the next search does not ask it again.
    const before = tavily.requests.length
    assert.strictEqual((await json(await search({ query: "three" }))).provider, "brave")
    assert.strictEqual(tavily.requests.length, before)
  })

  scenario("does not go on from a provider that was named", async ({ brave, connectBoth, search, tavily }) => {
    await connectBoth()
    tavily.always(Fake.json({ detail: { error: "down" } }, { status: 500 }))
    const response = await search({ query: "q", provider: "tavily" })
    assert.strictEqual(response.status, 500)
    const { error } = await json(response)
    assert.include(error.message, "down")
    assert.strictEqual(error.attempts[0].provider, "tavily")
    assert.strictEqual(brave.requests.length, 0)
    assert.strictEqual((await json(await search({ query: "q", provider: "brave-search" }))).provider, "brave")
  })

  scenario(
    "refuses what is no search with the field, and asks nobody",
    async ({ brave, connectBoth, search, tavily }) => {
      await connectBoth()
      for (const [body, param] of wrongs) {
        const response = await search(body)
        assert.strictEqual(response.status, 400, JSON.stringify(body))
        const { error } = await json(response)
        assert.strictEqual(error.type, "invalid_request_error")
        assert.strictEqual(error.param ?? null, param, JSON.stringify(body))
      }
      assert.strictEqual(tavily.requests.length + brave.requests.length, 0)
    }
  )

  scenario("says what to do when no provider is connected", async ({ search }) => {
    const any = await search({ query: "q" })
    assert.strictEqual(any.status, 503)
    assert.include((await json(any)).error.message, "gateway provider add tavily")
    const named = await search({ query: "q", provider: "exa" })
    assert.strictEqual(named.status, 400)
    assert.include((await json(named)).error.message, "gateway provider add exa")
  })

  scenario("says a strict search only to providers that can be told all of it", async (room) => {
    const { brave, connectBoth, search, tavily } = room
    await connectBoth()
    const strict = { query: "q", language: "de", strict_filters: true }
    assert.strictEqual((await json(await search(strict))).provider, "brave")
    assert.strictEqual(tavily.requests.length, 0)
    const named = await search({ ...strict, provider: "tavily" })
    assert.strictEqual(named.status, 400)
    assert.strictEqual((await json(named)).error.param, "language")
    const none = await search({ ...strict, synthesis: true })
    assert.strictEqual(none.status, 400)
    const lenient = await search({ query: "q", language: "de" })
    assert.strictEqual((await json(lenient)).provider, "tavily")
    assert.strictEqual(lenient.headers.get("x-gateway-dropped"), "language")
    assert.strictEqual(brave.requests.length, 1)
  })

  scenario("passes a provider's own options to the one that was named", async ({ connect, search, tavily }) => {
    await connect("tavily", tavily)
    const options = { provider_options: { search_depth: "advanced", auto_parameters: true } }
    await search({ query: "q", provider: "tavily", ...options })
    assert.deepInclude(JSON.parse(tavily.requests[0]?.body ?? ""), options.provider_options)
    const any = await search({ query: "other", ...options })
    assert.notProperty(JSON.parse(tavily.requests[1]?.body ?? ""), "search_depth")
    assert.strictEqual(any.headers.get("x-gateway-dropped"), "provider_options")
  })

  scenario("lists providers and what they can", async ({ connect, gateway, tavily }) => {
    await connect("tavily", tavily)
    const { providers } = await json(await fetch(`${gateway.url}/v1/search`))
    const ids = [
      "serper",
      "brave",
      "perplexity",
      "exa",
      "tavily",
      "google-pse",
      "linkup",
      "searchapi",
      "youcom",
      "searxng",
      "ollama"
    ]
    assert.deepStrictEqual(
      providers.map(({ id }: { id: string }) => id),
      ids
    )
    const of = (id: string) => providers.find((provider: { id: string }) => provider.id === id)
    assert.deepInclude(of("tavily"), { configured: true, types: ["web", "news"] })
    assert.deepInclude(of("brave"), { configured: false })
    assert.notInclude(JSON.stringify(providers), "key-of-tavily")
  })

  scenario("tries a connection with a search, without a model", async ({ brave, connect, gateway, tavily }) => {
    const { id } = await connect("tavily", tavily)
    const good = await gateway.manage("POST", `/api/providers/${id}/test`)
    assert.deepInclude(good, { ok: true, status: 200, error: null })
    assert.deepInclude(JSON.parse(tavily.requests[0]?.body ?? ""), { query: "ping", max_results: 1 })
    const validate = (apiKey: string) =>
      gateway.manage("POST", "/api/providers/validate", { provider: "brave", apiKey, baseUrl: brave.origin })
    assert.deepInclude(await validate("good"), { valid: true })
    assert.strictEqual(brave.requests[0]?.url.startsWith("/res/v1/web/search?q=ping&count=1"), true)
    tavily.always(Fake.json({ detail: { error: "Unauthorized: missing or invalid API key." } }, { status: 401 }))
    const bad = await gateway.manage("POST", `/api/providers/${id}/test`)
    assert.deepInclude(bad, { ok: false, status: 401 })
    assert.include(bad.error, "Unauthorized")
    brave.always(
      Fake.json({ error: { code: "SUBSCRIPTION_TOKEN_INVALID", detail: "no", status: 422 } }, { status: 422 })
    )
    assert.deepInclude(await validate("bad"), { valid: false })
  })

  scenario("offers no models of search providers, and says so to who asks them to talk", async (room) => {
    const { connect, gateway, tavily } = room
    await connect("tavily", tavily)
    const { data } = await json(await fetch(`${gateway.url}/v1/models`))
    assert.isFalse(data.some(({ id }: { id: string }) => id.includes("tavily")))
    const chat = await gateway.post("/v1/chat/completions", {
      model: "tavily/search",
      messages: [{ role: "user", content: "hi" }]
    })
    assert.strictEqual(chat.status, 400)
    assert.match((await json(chat)).error.message, /no endpoint for this kind/)
    assert.strictEqual(tavily.requests.length, 0)
  })
})

describe("answers of search providers", () => {
  const bad: ReadonlyArray<readonly [name: string, answer: Fake.Answer, status: number]> = [
    ["a web page", Fake.text("<!doctype html><title>Hi</title>", { headers: { "content-type": "text/html" } }), 502],
    ["JSON without results", Fake.json({ hello: 1 }), 502],
    ["results that are none", Fake.json({ results: "many" }), 502],
    ["an empty body", Fake.text(""), 502],
    ["broken JSON", Fake.text('{"results": [{"title":', { headers: { "content-type": "application/json" } }), 502],
    [
      "ten megabytes",
      Fake.json({ results: [{ title: "t", url: "https://a.com", content: "x".repeat(10_485_760) }] }),
      502
    ],
    ["a bad key", Fake.json({ detail: { error: "Unauthorized: missing or invalid API key." } }, { status: 401 }), 401],
    [
      "too many requests",
      Fake.json({ detail: { error: "slow down" } }, { status: 429, headers: { "retry-after": "7" } }),
      429
    ],
    ["a plan that is used up", Fake.json({ detail: { error: "plan limit" } }, { status: 432 }), 432],
    ["a reset connection", Fake.resetBeforeHeaders(), 502]
  ]
  for (const [name, answer, status] of bad) {
    scenario(
      `that are ${name} are told as they are when the provider is named, and passed over when not`,
      async (room) => {
        const { connectBoth, search, tavily } = room
        await connectBoth()
        tavily.always(answer)
        const any = await search({ query: "q" })
        assert.strictEqual(any.status, 200)
        assert.strictEqual((await json(any)).provider, "brave")
        const named = await search({ query: "q", provider: "tavily" })
        assert.isAtLeast(named.status, 400)
        if (named.status !== 503 && named.status !== 429) assert.strictEqual(named.status, status)
        assert.isString((await json(named)).error.message)
      }
    )
  }

  scenario("that never come are given up", async ({ connectBoth, gateway, search, tavily }) => {
    await connectBoth()
    await gateway.manage("PATCH", "/api/resilience", { timeouts: { firstByteMs: 200 } })
    tavily.always(Fake.hang())
    assert.strictEqual((await json(await search({ query: "q" }))).provider, "brave")
  })

  scenario("without results are answers", async ({ connect, search, tavily }) => {
    await connect("tavily", tavily)
    tavily.always(Fake.json({ query: "q", results: [] }))
    const response = await search({ query: "q" })
    assert.strictEqual(response.status, 200)
    assert.deepStrictEqual((await json(response)).results, [])
  })

  scenario(
    "hold no addresses but those of the web, and no more than was asked for",
    async ({ connect, search, tavily }) => {
      await connect("tavily", tavily)
      const results = [
        { title: "script", url: "javascript:alert(1)" },
        { title: "none" },
        7,
        ...Array.from({ length: 150 }, (_, index) => ({
          title: "t".repeat(5_000),
          url: `https://a.com/${index}`,
          content: "c".repeat(50_000)
        }))
      ]
      tavily.always(Fake.json({ results }))
      const answer = await json(await search({ query: "q", max_results: 3 }))
      assert.deepStrictEqual(
        answer.results.map(({ url }: { url: string }) => url),
        ["https://a.com/0", "https://a.com/1", "https://a.com/2"]
      )
      assert.strictEqual(answer.results[0].title.length, 1_000)
      assert.strictEqual(answer.results[0].snippet.length, 10_000)
    }
  )
})
