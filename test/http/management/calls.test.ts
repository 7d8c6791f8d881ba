/** What calls cost, over HTTP: to 1e-10 USD, with writes to an hour's cache, and by day and model as a provider bills them. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { adminKey } from "../../support/TestGateway.ts"

const ask = (model: string) => ({ model, max_tokens: 20, messages: [{ role: "user", content: "hello" }] })

const withGateway = (use: (gateway: TestGateway.TestGateway, upstream: FakeUpstream.FakeUpstream) => Promise<void>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(() => use(gateway, upstream))
    })
  )

interface Log {
  readonly model: string
  readonly costUsd: number
  readonly priced: boolean
  readonly tokens: Readonly<Record<string, number>>
}

const today = (): string => new Date().toISOString().slice(0, 10)

const chatAnswer = (usage: object | null) =>
  FakeUpstream.json({
    id: "c",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    ...(usage === null ? {} : { usage })
  })

it.live("books prices finer than a nano-USD per token to 1e-10 USD, one by one and in sums", () =>
  withGateway(async ({ connect, manage, post }, upstream) => {
    upstream.always(
      chatAnswer({ prompt_tokens: 1_001, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 7 } })
    )
    await connect("one", upstream, "chat")
    await manage("PATCH", "/api/pricing", { one: { m: { input: 0.0375, output: 0.15, cached: 0.018_75 } } })
    const each = (994 * 0.0375 + 7 * 0.018_75 + 3 * 0.15) / 1e6
    const count = 9
    for (let n = 0; n < count; n += 1) {
      const answer = await post("/v1/chat/completions", ask("one/m"))
      assert.closeTo(Number(answer.headers.get("x-gateway-response-cost")), each, 1e-10)
      await answer.text()
    }
    const { logs }: { readonly logs: ReadonlyArray<Log> } = await manage("GET", "/api/usage/logs")
    for (const { costUsd } of logs) assert.closeTo(costUsd, each, 1e-11)
    const { entries } = await manage("GET", "/api/usage/ledger")
    for (const { settledUsd } of entries) assert.closeTo(settledUsd, each, 1e-11)
    for (const range of ["1h", "24h", "90d"]) {
      const { summary } = await manage("GET", `/api/usage/analytics?range=${range}`)
      assert.closeTo(summary.costUsd, count * each, 1e-10, range)
    }
    const { days } = await manage("GET", `/api/usage/calls?provider=one&from=${today()}&to=${today()}`)
    assert.closeTo(
      days.reduce((sum: number, { costUsd }: Log) => sum + costUsd, 0),
      count * each,
      1e-10
    )
  })
)

it.live("bills writes to an hour's cache at their own price, streamed and not, on either wire", () =>
  withGateway(async ({ connect, manage, post }, upstream) => {
    const usage = {
      input_tokens: 2_048,
      cache_read_input_tokens: 1_800,
      cache_creation_input_tokens: 248,
      output_tokens: 503,
      cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 }
    }
    const message = { id: "m", type: "message", role: "assistant", model: "m" }
    const events = [
      { type: "message_start", message: { ...message, content: [], usage: { ...usage, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 503 } },
      { type: "message_stop" }
    ]
    const whole = FakeUpstream.json({
      ...message,
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      usage
    })
    await connect("one", upstream, "messages")
    const price = { input: 3, output: 15, cached: 0.3, cacheCreation: 3.75 }
    const table = await manage("PATCH", "/api/pricing", { one: { m: { ...price, cacheCreation1h: 6 }, plain: price } })
    assert.strictEqual(table.one.m.cacheCreation1h, 6)

    for (const path of ["/v1/messages", "/v1/chat/completions"]) {
      upstream.always(whole)
      for (const model of ["one/m", "one/plain"]) await (await post(path, ask(model))).text()
      upstream.always(
        FakeUpstream.sse(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
      )
      for (const model of ["one/m", "one/plain"]) await (await post(path, { ...ask(model), stream: true })).text()
    }
    const { logs }: { readonly logs: ReadonlyArray<Log> } = await manage("GET", "/api/usage/logs")
    assert.lengthOf(logs, 8)
    const known = (2_048 * 3 + 1_800 * 0.3 + 503 * 15) / 1e6
    for (const { costUsd, model, tokens } of logs) {
      const written = model === "m" ? 148 * 3.75 + 100 * 6 : 248 * 3.75
      assert.closeTo(costUsd, known + written / 1e6, 1e-10, model)
      assert.strictEqual(tokens["cacheWrite"], 248, "the row has the total")
    }
    const { entries } = await manage("GET", "/api/usage/ledger?limit=100")
    assert.isTrue(entries.some((entry: { price: { cacheCreation1h?: number } }) => entry.price.cacheCreation1h === 6))
  })
)

it.live("books tokens at the price that is set, whatever a provider says it charges", () =>
  withGateway(async ({ connect, manage, post }, upstream) => {
    upstream.always(chatAnswer({ prompt_tokens: 1_000, completion_tokens: 100, cost: 0.95 }))
    await connect("one", upstream, "chat")
    await manage("PATCH", "/api/pricing", { one: { m: { input: 1, output: 2 } } })
    const answer = await post("/v1/chat/completions", ask("one/m"))
    assert.strictEqual(answer.headers.get("x-gateway-response-cost"), "0.0012000000")
    assert.include(await answer.text(), '"cost":0.95', "the client still sees it")
    await (await post("/v1/chat/completions", ask("one/unpriced"))).text()
    const { logs }: { readonly logs: ReadonlyArray<Log> } = await manage("GET", "/api/usage/logs")
    assert.deepStrictEqual(
      logs.map(({ costUsd, priced }) => [costUsd, priced]),
      [
        [0, false],
        [0.0012, true]
      ]
    )
  })
)

it.live(
  "shows calls by day and model, each at the model that was called, with those that a bill may see otherwise",
  () =>
    withGateway(async ({ connect, manage, post }, upstream) => {
      const usage = { prompt_tokens: 1_000, completion_tokens: 100 }
      const one = await connect("one", upstream, "chat")
      await manage("PATCH", "/api/pricing", { one: { a: { input: 1, output: 2 }, b: { input: 10, output: 20 } } })
      await manage("POST", "/api/combos", {
        name: "both",
        strategy: "priority",
        targets: [{ model: "one/a" }, { model: "one/b" }]
      })
      upstream.enqueue(FakeUpstream.json({ error: { message: "down" } }, { status: 500 }), chatAnswer(usage))
      const second = await post("/v1/chat/completions", ask("both"))
      assert.strictEqual(second.status, 200, await second.text())
      upstream.always(chatAnswer(null))
      await (await post("/v1/chat/completions", ask("one/b"))).text()
      upstream.always(chatAnswer(usage))
      await (await post("/v1/chat/completions", ask("one/c"))).text()

      const day = today()
      const query = `provider=one&from=${day}&to=${day}`
      const { days, isCut } = await manage("GET", `/api/usage/calls?${query}`)
      assert.isFalse(isCut)
      interface Day {
        readonly model: string
        readonly calls: number
        readonly costUsd: number
        readonly source: string
        readonly reasons: ReadonlyArray<{
          readonly reason: string
          readonly calls: number
          readonly requestIds: ReadonlyArray<string>
        }>
      }
      const shown = (all: ReadonlyArray<Day>) =>
        all
          .map(({ calls, model, reasons }) => [
            model,
            calls,
            reasons.map(({ calls: count, reason }) => `${reason} ${count}`)
          ])
          .toSorted()
      assert.deepStrictEqual(shown(days), [
        ["a", 1, ["voided 1"]],
        ["b", 2, ["estimated 1"]],
        ["c", 1, ["unpriced 1"]]
      ])
      const { logs } = await manage("GET", "/api/usage/logs")
      const ids = logs.map((log: { requestId: string }) => log.requestId)
      for (const { reasons } of days as ReadonlyArray<Day>) {
        for (const { requestIds } of reasons) for (const id of requestIds) assert.include(ids, id)
      }
      const ofOne = await manage("GET", `/api/usage/calls?${query}&connectionId=${one.id}`)
      assert.deepStrictEqual(shown(ofOne.days), shown(days))
      const ofOther = await manage("GET", `/api/usage/calls?${query}&connectionId=another`)
      assert.deepStrictEqual(ofOther.days, [])
      const before = await manage("GET", "/api/usage/calls?provider=one&from=2020-01-01&to=2020-12-31")
      assert.deepStrictEqual(before.days, [])

      const total = (all: ReadonlyArray<Day>): number => all.reduce((sum, { costUsd }) => sum + costUsd, 0)
      await manage("POST", "/api/settings/purge-request-history", {})
      const purged = await manage("GET", `/api/usage/calls?${query}`)
      assert.isTrue(purged.days.every(({ source }: Day) => source === "sums"))
      assert.closeTo(total(purged.days), total(days), 1e-12)
    })
)

it.live("reserves the price of an hour's cache only for prompts that ask for it", () =>
  withGateway(async ({ connect, manage, post }, upstream) => {
    upstream.always(FakeUpstream.json(FakeUpstream.messagesAnswer()))
    await connect("one", upstream, "messages")
    await manage("PATCH", "/api/pricing", {
      one: { m: { input: 1, output: 0, cacheCreation: 2, cacheCreation1h: 20 } }
    })
    const { key, secret } = await manage("POST", "/api/keys", { name: "limited" })
    await manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 10 })
    for (const ttl of ["1h", "5m"]) {
      const content = [{ type: "text", text: "hello", cache_control: { type: "ephemeral", ttl } }]
      const body = { model: "one/m", max_tokens: 20, messages: [{ role: "user", content }] }
      const answer = await post("/v1/messages", body, { "x-api-key": secret })
      assert.strictEqual(answer.status, 200, await answer.text())
    }
    const { entries } = await manage("GET", `/api/usage/ledger?apiKeyId=${key.id}`)
    const [short, long] = entries.map(({ reservedUsd }: { readonly reservedUsd: number }) => reservedUsd)
    assert.isAbove(short, 0)
    assert.closeTo(long, short * 10, 1e-9)
  })
)

it.live("compares a bill with the ledger, keeps nothing of it, and says what is wrong with one", () =>
  withGateway(async ({ connect, manage, post, url }, upstream) => {
    upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion()))
    await connect("one", upstream, "chat")
    await manage("PATCH", "/api/pricing", { one: { "gpt-4o-mini": { input: 1_000, output: 0 } } })
    await (await post("/v1/chat/completions", ask("one/gpt-4o-mini"))).text()
    const day = new Date().toISOString().slice(0, 10)
    const booked = await manage("GET", `/api/usage/calls?provider=one&from=${day}&to=${day}`)
    const usd = booked.days[0].costUsd
    const line = (item: string, amount: number): string => `${day},usd,${amount},"${item}"`
    const csv = (...lines: ReadonlyArray<string>): string =>
      ["start_time_iso,amount_currency,amount_value,line_item", ...lines, ""].join("\n")
    const same = await manage("POST", "/api/usage/reconcile", {
      bill: csv(line("gpt-4o-mini-2024-07-18, input", usd)),
      provider: "one"
    })
    assert.deepInclude(same, { provider: "one", form: "OpenAI's cost export", from: day, to: day })
    assert.deepStrictEqual(same.total, { billedUsd: usd, ledgerUsd: usd, differenceUsd: 0 })
    assert.deepInclude(same.days[0], { date: day, model: "gpt-4o-mini", calls: 1, why: "" })
    assert.include(same.remarks[0], "providers bill some hours late")
    // The usual provider is that of the export, which has no calls here.
    const other = await manage("POST", "/api/usage/reconcile", { bill: csv(line("gpt-4o", 2)) })
    assert.deepInclude(other, { provider: "openai", total: { billedUsd: 2, ledgerUsd: 0, differenceUsd: 2 } })

    const wrong: ReadonlyArray<readonly [bill: string, message: RegExp]> = [
      ["", /is empty/],
      ["\uFEFF", /is empty/],
      ["a\u0000b", /is no text/],
      ["{", /cut short, or no valid JSON/],
      ["name,value\n1,2\n", /no cost export of OpenAI or Anthropic/],
      ['start_time,amount_value\n"1', /cut short, or no valid CSV/],
      [csv(), /no amount in it/],
      ["start_time,amount_value,amount_currency\n1,1,eur\n", /not in USD/],
      [`${"x".repeat(1_000_001)}`, /1000000|1,000,000|character/]
    ]
    for (const [bill, message] of wrong) {
      const response = await fetch(`${url}/api/usage/reconcile`, {
        method: "POST",
        headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
        body: JSON.stringify({ bill })
      })
      assert.strictEqual(response.status, 400, bill.slice(0, 40))
      const { error } = (await response.json()) as {
        readonly error: { readonly param: string; readonly message: string }
      }
      assert.strictEqual(error.param, "bill")
      assert.match(error.message, message)
    }
  })
)

it.live("changes the budget of one key over its version, whatever is done to the others", () =>
  withGateway(async ({ manage, url }) => {
    const made = async (name: string): Promise<string> => (await manage("POST", "/api/keys", { name })).key.id
    const [one, other] = [await made("one"), await made("other")]
    await manage("POST", "/api/usage/budget", { apiKeyId: one, dailyLimitUsd: 1 })
    const at = `${url}/api/usage/budget?apiKeyId=${one}`
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }
    const tag = (await fetch(at, { headers })).headers.get("etag") ?? ""
    const set = (dailyLimitUsd: number) =>
      fetch(at, {
        method: "POST",
        headers: { ...headers, "if-match": tag },
        body: JSON.stringify({ apiKeyId: one, dailyLimitUsd })
      })
    await manage("POST", "/api/usage/budget", { apiKeyId: other, dailyLimitUsd: 9 })
    const first = await set(2)
    assert.strictEqual(first.status, 200)
    assert.notStrictEqual(first.headers.get("etag"), tag)
    const second = await set(3)
    assert.strictEqual(second.status, 412)
    const { current } = (await second.json()) as {
      readonly current: { readonly budget: { readonly dailyLimitUsd: number } }
    }
    assert.strictEqual(current.budget.dailyLimitUsd, 2)
    const mixed = await fetch(at, {
      method: "POST",
      headers,
      body: JSON.stringify({ apiKeyId: other, dailyLimitUsd: 3 })
    })
    assert.strictEqual(mixed.status, 400)
    assert.match(await mixed.text(), /another key than in the query/)
  })
)
