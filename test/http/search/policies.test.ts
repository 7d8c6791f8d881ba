/** What holds for every request holds for searches: rules of API keys, limits, books; and answers that are kept. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually, eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { bearer, json, room as makeRoom, scenario, tavilyAnswer } from "../../support/Searches.ts"

const query = { query: "what is a gateway" }

/** Waits until so many requests are under way. */
const underWay = ({ url }: { readonly url: string }, count: number) =>
  eventually(
    `${count} requests under way`,
    async () => /^gateway_requests_in_flight (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1],
    (found) => found === String(count)
  )

describe("answers that are kept", () => {
  scenario("are not given again to a key with noLog", async ({ connect, newKey, search, tavily }) => {
    await connect("tavily", tavily)
    for (const noLog of [true, false]) {
      const before = tavily.requests.length
      const { secret } = await newKey({ noLog })
      const told: Array<string | null> = []
      for (let time = 0; time < 2; time += 1) {
        const response = await search(query, bearer(secret))
        await response.text()
        told.push(response.headers.get("x-gateway-cache"))
      }
      assert.deepStrictEqual(told, ["MISS", noLog ? "MISS" : "HIT"])
      assert.strictEqual(tavily.requests.length - before, noLog ? 2 : 1)
    }
  })

  scenario("are given again without a call", async ({ analytics, connect, gateway, search, tavily }) => {
    await connect("tavily", tavily)
    const first = await json(await search(query))
    const response = await search({ ...query, query: " what is a gateway " })
    const again = await json(response)
    assert.strictEqual(response.headers.get("x-gateway-cache"), "HIT")
    assert.strictEqual(response.headers.get("x-gateway-cache-hit"), "true")
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0000000000")
    assert.deepInclude(again, { cached: true, results: first.results, provider: "tavily" })
    assert.deepStrictEqual(again.usage, { queries_used: 0, search_cost_usd: 0, llm_tokens: 0 })
    assert.notStrictEqual(again.id, first.id)
    assert.strictEqual(tavily.requests.length, 1)
    const row = await gateway.usageRow(again.id)
    assert.deepInclude(row, { provider: "tavily", model: "search", outcome: "completed", attempts: 0, costUsd: 0 })
    const other = await search({ ...query, max_results: 6 })
    assert.strictEqual(other.headers.get("x-gateway-cache"), "MISS")
    const [counts] = await analytics()
    assert.deepInclude(counts, { provider: "tavily", requests: 3, errors: 0, cacheHits: 1 })
    assert.isNumber(counts.avgLatencyMs)
  })

  scenario("are neither given to nor made of a request that refuses them", async ({ connect, search, tavily }) => {
    await connect("tavily", tavily)
    const cacheOf = async (headers: Readonly<Record<string, string>>) =>
      (await search(query, headers)).headers.get("x-gateway-cache")
    for (const refusal of [{ "x-gateway-no-cache": "true" }, { "cache-control": "max-age=0, no-store" }]) {
      assert.strictEqual(await cacheOf(refusal), "MISS")
    }
    assert.deepStrictEqual(
      [await cacheOf({}), await cacheOf({}), await cacheOf({ "x-gateway-no-cache": "true" })],
      ["MISS", "HIT", "MISS"]
    )
    assert.strictEqual(tavily.requests.length, 4)
  })

  scenario("belong to their API key", async ({ connect, newKey, search, tavily }) => {
    await connect("tavily", tavily)
    const [one, two] = [await newKey(), await newKey()]
    const cacheOf = async (secret: string) => (await search(query, bearer(secret))).headers.get("x-gateway-cache")
    assert.deepStrictEqual(
      [await cacheOf(one.secret), await cacheOf(two.secret), await cacheOf(one.secret)],
      ["MISS", "MISS", "HIT"]
    )
  })

  scenario("are no failures", async ({ connect, search, tavily }) => {
    await connect("tavily", tavily)
    tavily.enqueue(Fake.json({ detail: { error: "no" } }, { status: 400 }))
    assert.strictEqual((await search(query)).status, 400)
    assert.strictEqual((await search(query)).status, 200)
  })

  scenario(
    "are not kept, and not shared, where the time is 0",
    async ({ connect, search, tavily }) => {
      await connect("tavily", tavily)
      const responses = await Promise.all([search(query), search(query)])
      responses.push(await search(query))
      assert.deepStrictEqual(
        responses.map(({ headers }) => headers.get("x-gateway-cache")),
        ["MISS", "MISS", "MISS"]
      )
      assert.strictEqual(tavily.requests.length, 3)
    },
    { searchCacheTtlMs: 0 }
  )
})

describe("equal searches at the same time", () => {
  const held = () => {
    const latch = Fake.makeLatch()
    const answer: Fake.Answer = async (response, request) => {
      await Promise.race([latch.opened, request.closed])
      if (!response.destroyed) Fake.json(tavilyAnswer)(response, request)
    }
    return { ...latch, answer }
  }

  scenario("wait for one call, which is paid for once", async ({ connect, gateway, search, tavily }) => {
    await connect("tavily", tavily)
    await gateway.manage("PATCH", "/api/pricing", { tavily: { search: { perSearchUnit: 0.01 } } })
    const { answer, open } = held()
    tavily.always(answer)
    const asking = [search(query), search(query), search(query)]
    await tavily.received(1)
    open()
    const answers = await Promise.all((await Promise.all(asking)).map(json))
    assert.strictEqual(tavily.requests.length, 1)
    assert.strictEqual(new Set(answers.map(({ id }) => id)).size, 3)
    assert.strictEqual(answers.filter(({ cached }) => cached).length, 2)
    const costs = await Promise.all(answers.map(async ({ id }) => (await gateway.usageRow(id)).costUsd))
    assert.deepStrictEqual(costs.toSorted(), [0, 0, 0.01])
  })

  scenario("are not ended by the one who asked first and left", async ({ connect, gateway, search, tavily }) => {
    await connect("tavily", tavily)
    const { answer, open } = held()
    tavily.always(answer)
    const leaving = new AbortController()
    const leader = search(query, {}, leaving.signal).catch(() => "left")
    await tavily.received(1)
    const follower = search(query)
    await underWay(gateway, 2)
    leaving.abort()
    assert.strictEqual(await leader, "left")
    await underWay(gateway, 1)
    open()
    const response = await follower
    assert.strictEqual(response.status, 200)
    assert.strictEqual((await json(response)).results.length, 2)
    assert.strictEqual(tavily.requests.length, 1)
  })

  scenario("end the call when all have left", async ({ connect, gateway, search, tavily }) => {
    await connect("tavily", tavily)
    tavily.always(Fake.hang())
    const leaving = new AbortController()
    const asking = [search(query, {}, leaving.signal), search(query, {}, leaving.signal)].map((each) =>
      each.catch(() => "left")
    )
    const { closed } = await tavily.received(1)
    leaving.abort()
    assert.deepStrictEqual(await Promise.all(asking), ["left", "left"])
    await closed
    const row = await eventuallyFound("row of the search that was left", async () => {
      const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=10")
      return logs[0]
    })
    assert.deepInclude(row, { outcome: "aborted", status: 499, model: "search" })
    tavily.always(Fake.json(tavilyAnswer))
    assert.strictEqual((await search(query)).status, 200)
  })

  scenario("share a failure too, each with a row of its own", async ({ connect, gateway, search, tavily }) => {
    await connect("tavily", tavily)
    const latch = Fake.makeLatch()
    tavily.always(async (response, request) => {
      await latch.opened
      Fake.json({ detail: { error: "broken" } }, { status: 400 })(response, request)
    })
    const asking = [search(query), search(query)]
    await tavily.received(1)
    latch.open()
    for (const response of await Promise.all(asking)) {
      assert.strictEqual(response.status, 400)
      assert.include((await json(response)).error.message, "broken")
      const id = response.headers.get("x-gateway-request-id") ?? ""
      assert.deepInclude(await gateway.usageRow(id), { outcome: "failed", status: 400 })
    }
    assert.strictEqual(tavily.requests.length, 1)
  })
})

describe("rules of API keys", () => {
  scenario("say which endpoints, providers and connections a key may use", async (room) => {
    const { brave, connectBoth, gateway, newKey, search, tavily } = room
    await connectBoth()
    const chatOnly = await newKey({ allowedEndpoints: ["chat"] })
    const refused = await search(query, bearer(chatOnly.secret))
    assert.strictEqual(refused.status, 403)
    assert.strictEqual((await json(refused)).error.code, "key_endpoint")
    const listing = await fetch(`${gateway.url}/v1/search`, { headers: bearer(chatOnly.secret) })
    assert.strictEqual(listing.status, 403)
    const modelsOnly = await newKey({ allowedModels: ["openai/*"] })
    assert.strictEqual((await search(query, bearer(modelsOnly.secret))).status, 403)
    const braveOnly = await newKey({ allowedEndpoints: ["search"], allowedModels: ["brave/*"] })
    assert.strictEqual((await json(await search(query, bearer(braveOnly.secret)))).provider, "brave")
    const named = await search({ ...query, provider: "tavily" }, bearer(braveOnly.secret))
    assert.strictEqual(named.status, 403)
    assert.strictEqual(tavily.requests.length, 0)
    assert.strictEqual(brave.requests.length, 1)
  })

  scenario(
    "hold for keys that are not active, and for pages of other sites",
    async ({ connect, gateway, newKey, search, tavily }) => {
      await connect("tavily", tavily)
      const { id, secret } = await newKey()
      await gateway.manage("PATCH", `/api/keys/${id}`, { isActive: false })
      assert.strictEqual((await search(query, bearer(secret))).status, 401)
      assert.strictEqual((await search(query, { origin: "https://evil.example" })).status, 403)
      assert.strictEqual(tavily.requests.length, 0)
    }
  )

  scenario("count searches for rates, those without a call too", async ({ connect, newKey, search, tavily }) => {
    await connect("tavily", tavily)
    const { secret } = await newKey({ rateLimits: [{ limit: 2, window: 3_600 }] })
    const statuses: Array<number> = []
    for (let turn = 0; turn < 3; turn += 1) statuses.push((await search(query, bearer(secret))).status)
    assert.deepStrictEqual(statuses, [200, 200, 429])
    assert.strictEqual(tavily.requests.length, 1)
  })

  scenario(
    "refuse a search over the budget before it is sent",
    async ({ connect, gateway, newKey, search, tavily }) => {
      await connect("tavily", tavily)
      await gateway.manage("PATCH", "/api/pricing", { tavily: { search: { perSearchUnit: 0.6 } } })
      const { id, secret } = await newKey()
      await gateway.manage("POST", "/api/usage/budget", { apiKeyId: id, dailyLimitUsd: 1 })
      const first = await search({ query: "one" }, bearer(secret))
      assert.strictEqual(first.status, 200)
      assert.strictEqual(first.headers.get("x-gateway-response-cost"), "0.6000000000")
      const answer = await json(first)
      assert.strictEqual(answer.usage.search_cost_usd, 0.6)
      assert.deepInclude(await gateway.usageRow(answer.id), { costUsd: 0.6, priced: true })
      const second = await search({ query: "two" }, bearer(secret))
      assert.strictEqual(second.status, 429)
      assert.strictEqual(tavily.requests.length, 1)
      // What costs nothing is still given.
      assert.strictEqual((await search({ query: "one" }, bearer(secret))).headers.get("x-gateway-cache"), "HIT")
      const { entries } = await gateway.manage("GET", `/api/usage/ledger?apiKeyId=${id}`)
      assert.isTrue(entries.some(({ settledUsd }: { settledUsd: number | null }) => settledUsd === 0.6))
    }
  )
})

describe("analytics", () => {
  scenario("count failures at the provider that failed, and show keys their own", async (room) => {
    const { analytics, connectBoth, gateway, newKey, search, tavily } = room
    await connectBoth()
    const { secret } = await newKey()
    tavily.always(Fake.json({ detail: { error: "down" } }, { status: 400 }))
    await search({ query: "one" }, bearer(secret))
    await search({ query: "two" })
    const all = await analytics()
    const of = (list: ReadonlyArray<{ provider: string }>, id: string): object =>
      list.find(({ provider }) => provider === id) ?? {}
    assert.deepInclude(of(all, "tavily"), { requests: 2, errors: 2, avgLatencyMs: null, cacheHits: 0 })
    assert.deepInclude(of(all, "brave"), { requests: 2, errors: 0 })
    const own = await json(await fetch(`${gateway.url}/v1/search/analytics`, { headers: bearer(secret) }))
    assert.deepInclude(of(own.providers, "tavily"), { requests: 1, errors: 1 })
  })

  it.live("survive a restart", () =>
    Effect.gen(function* () {
      const dataDir = mkdtempSync(join(tmpdir(), "gateway-search-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
      const ran = Effect.scoped(
        Effect.flatMap(makeRoom({ dataDir }), ({ analytics, connect, search, tavily }) =>
          Effect.promise(async () => {
            const before = await analytics()
            if (before.length === 0) await connect("tavily", tavily)
            else return before
            await search(query)
            await search(query)
            return before
          })
        )
      )
      assert.deepStrictEqual(yield* ran, [])
      const after = yield* ran
      assert.deepInclude(after[0], { provider: "tavily", requests: 2, cacheHits: 1, errors: 0 })
    }).pipe(Effect.scoped)
  )
})

describe("what is searched for", () => {
  it.live("is on no disk", () =>
    Effect.gen(function* () {
      const dataDir = mkdtempSync(join(tmpdir(), "gateway-search-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
      yield* Effect.scoped(
        Effect.flatMap(makeRoom({ dataDir }), ({ connect, gateway, newKey, search, tavily }) =>
          Effect.promise(async () => {
            await connect("tavily", tavily)
            const { secret } = await newKey({ noLog: true })
            for (const headers of [{}, bearer(secret)]) {
              const { id } = await json(await search({ query: "marmalade sandwiches" }, headers))
              await gateway.usageRow(id)
            }
          })
        )
      )
      const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      assert.isAbove(files.length, 0)
      for (const { name, parentPath } of files) {
        assert.isFalse(readFileSync(join(parentPath, name)).includes("marmalade"), name)
      }
    }).pipe(Effect.scoped)
  )
})

describe("where a search goes", () => {
  scenario("is what the operator's address says, with its query", async ({ connect, search, tavily }) => {
    await connect("google-pse", tavily, { baseUrl: `${tavily.origin}/customsearch/v1?cx=engine` })
    tavily.always(Fake.json({ kind: "customsearch#search", items: [] }))
    assert.strictEqual((await search(query)).status, 200)
    const [asked] = tavily.requests
    assert.strictEqual(asked?.url, "/customsearch/v1?cx=engine&q=what+is+a+gateway&num=5")
    assert.strictEqual(asked?.headers["x-goog-api-key"], "key-of-google-pse")
  })

  scenario("is no local server without a key of its own", async ({ connect, gateway, search, tavily }) => {
    const { id } = await connect("ollama", tavily, { apiKey: undefined, authType: "none" })
    assert.strictEqual((await search({ ...query, provider: "ollama" })).status, 400)
    await gateway.manage("DELETE", `/api/providers/${id}`)
    await connect("ollama-cloud", tavily)
    assert.strictEqual((await json(await search({ ...query, provider: "ollama" }))).provider, "ollama")
    assert.strictEqual(tavily.requests[0]?.url, "/api/web_search")
  })
})
