/** `gateway search` against a running gateway. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { typed } from "../../unit/cli/inProcess.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { scenario } from "../../support/Searches.ts"
import { adminKey } from "../../support/TestGateway.ts"

const run = ({ url }: { readonly url: string }, words: ReadonlyArray<string>, columns: number | null = null) =>
  Effect.runPromise(typed(["search", ...words, "--url", url, "--gateway-key", adminKey], columns))

describe("gateway search", () => {
  scenario("prints what was found, as a table or as JSON", async ({ connect, gateway, tavily }) => {
    await connect("tavily", tavily)
    const table = await run(gateway, ["what", "is", "a", "gateway", "-n", "2"], 200)
    assert.strictEqual(table.code, 0, table.stderr)
    assert.match(table.stdout, /1 +Gateways +https:\/\/example\.com\/gateways +What a gateway is\./)
    assert.match(table.stderr, /tavily, \d+ ms, 0\.008000 USD/)
    assert.deepInclude(JSON.parse(tavily.requests[0]?.body ?? ""), { query: "what is a gateway", max_results: 2 })
    const json = await run(gateway, ["web", "providers", "--type", "news", "--provider", "tavily", "--json"])
    assert.strictEqual(JSON.parse(json.stdout).results[0].url, "https://example.com/gateways")
    assert.deepInclude(JSON.parse(tavily.requests[1]?.body ?? ""), { query: "providers", topic: "news" })
    const names = await run(gateway, ["what is a gateway", "-n", "2", "-o", "name"])
    assert.strictEqual(names.stdout, "https://example.com/gateways\nhttps://example.org/")
  })

  scenario("lists providers, and what was done", async ({ connect, gateway, tavily }) => {
    await connect("tavily", tavily)
    await run(gateway, ["one"])
    await run(gateway, ["one"])
    const providers = await run(gateway, ["providers"], 200)
    assert.match(providers.stdout, /^tavily +yes +web, news/m)
    assert.match(providers.stdout, /^brave +no /m)
    const stats = await run(gateway, ["stats"], 200)
    assert.match(stats.stdout, /^tavily +2 +0 +\d+ +1 +0\.008000/m)
  })

  scenario("says what is wrong and what to do", async ({ connect, gateway, tavily }) => {
    const none = await run(gateway, ["q"])
    assert.notStrictEqual(none.code, 0)
    assert.include(none.stderr, "gateway provider add tavily")
    await connect("tavily", tavily)
    tavily.always(Fake.json({ results: [] }))
    const empty = await run(gateway, ["nothing"], 200)
    assert.strictEqual(empty.code, 0)
    assert.include(empty.stderr, "tavily found nothing.")
    assert.include((await run(gateway, [])).stderr, "nothing to search for")
    assert.include((await run(gateway, ["q", "-n", "0"])).stderr, "--max-results")
  })
})

describe("gateway provider", () => {
  scenario("adds and tests a provider of searches, which has no models", async ({ gateway, search, tavily }) => {
    const asked = (...words: ReadonlyArray<string>) =>
      Effect.runPromise(typed(["provider", ...words, "--url", gateway.url, "--gateway-key", adminKey]))
    const added = await asked("add", "tavily", "--api-key", "tvly-key", "--base-url", tavily.origin)
    assert.strictEqual(added.code, 0, added.stderr)
    assert.match(added.stderr, /it searches the web[^]*search 'what is a gateway'/)
    const tested = await asked("test", "tavily", "--json")
    assert.strictEqual(tested.code, 0, tested.stderr)
    assert.include(tested.stdout, '"ok": true')
    assert.strictEqual((await search({ query: "q" })).status, 200)
  })
})
