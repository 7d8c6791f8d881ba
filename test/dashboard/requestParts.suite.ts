/** A request's detail: where its time went, why not another target, the simulation without one, its session, and filters kept by a name. */
import { assert, beforeAll, describe, it } from "vitest"
import { type TimedCall, timeParts } from "../../src/dashboard/ui/decision/timeParts.ts"
import { whyNoTarget, whyNotOf } from "../../src/dashboard/views/requests/whyNot.ts"
import { violations } from "./access.ts"
import { browserPath, failing, world } from "./world.ts"

const at = (ms: number): string => new Date(1_900_000_000_000 + ms).toISOString()

const call = (startMs: number, latencyMs: number, outcome: TimedCall["outcome"], model = "m"): TimedCall => ({
  provider: "p",
  connectionId: "c",
  model,
  status: outcome === "completed" ? 200 : 429,
  outcome,
  reason: "",
  startedAt: at(startMs),
  latencyMs
})

describe("the time of a request", () => {
  it("is parted into what was before the calls, each call, the first token and the answer", () => {
    const calls = [call(40, 1_000, "completed"), call(5, 30, "failed", "busy")]
    const { parts, wholeMs } = timeParts(calls, { startedAt: at(0), latencyMs: 1_050, ttftMs: 440 })
    assert.strictEqual(wholeMs, 1_050)
    assert.deepStrictEqual(
      parts.map(({ forMs, fromMs, kind }) => [kind, fromMs, forMs]),
      [
        ["before", 0, 5],
        ["failed", 5, 30],
        ["firstToken", 40, 400],
        ["answer", 440, 600],
        ["after", 1_040, 10]
      ]
    )
  })

  it("has a first token that whole milliseconds put a little outside of its call", () => {
    for (const ttftMs of [9, 32]) {
      const { parts } = timeParts([call(10, 20, "completed")], { startedAt: at(0), latencyMs: 30, ttftMs })
      assert.deepStrictEqual(
        parts.map(({ forMs, fromMs, kind }) => [kind, fromMs, forMs]),
        [
          ["before", 0, 10],
          ["firstToken", 10, ttftMs === 9 ? 0 : 20],
          ["answer", ttftMs === 9 ? 10 : 30, ttftMs === 9 ? 20 : 0]
        ]
      )
    }
  })

  it("has no first token where none is known or it cannot be, and no negative part with a clock set back", () => {
    for (const ttftMs of [null, 5, 5_000]) {
      const { parts } = timeParts([call(10, 20, "completed")], { startedAt: at(0), latencyMs: 30, ttftMs })
      assert.deepStrictEqual(
        parts.map(({ kind }) => kind),
        ["before", "call"]
      )
    }
    const { parts, wholeMs } = timeParts([call(-500, 20, "failed")], { startedAt: at(0), latencyMs: 0, ttftMs: null })
    assert.isTrue(parts.every(({ forMs, fromMs }) => fromMs >= 0 && forMs >= 0))
    assert.strictEqual(wholeMs, 20)
    assert.deepStrictEqual(timeParts([], { startedAt: at(0), latencyMs: 7, ttftMs: null }), {
      parts: [{ kind: "before", call: null, fromMs: 0, forMs: 7 }],
      wholeMs: 7
    })
  })
})

describe("why not", () => {
  const candidate = (model: string, more: object = {}) => ({
    provider: "p",
    connectionId: `c-${model}`,
    model,
    score: null,
    factors: null,
    excluded: null,
    ...more
  })
  const excluded = { rule: "breaker", until: null, detail: "The breaker is open." }
  const decided = {
    requestId: "r",
    requestedModel: "best",
    combo: null,
    strategy: "auto",
    seed: 1,
    weights: null,
    candidates: [
      candidate("served", { score: 0.7 }),
      candidate("tried", { score: 0.9 }),
      candidate("behind", { score: 0.5 }),
      candidate("out", { excluded })
    ],
    order: ["p/tried", "p/served", "p/behind"],
    attempts: [
      { ...call(0, 5, "failed", "tried"), connectionId: "c-tried", reason: "rate_limited" },
      { ...call(5, 5, "completed", "served"), connectionId: "c-served" }
    ],
    chosen: "p/served",
    relaxedFilters: []
  }

  it("is answered by the decision for each kind of candidate, however it is named", () => {
    assert.deepStrictEqual(whyNotOf(decided, "p/served"), { _tag: "Served" })
    assert.deepStrictEqual(whyNotOf(decided, "tried"), { _tag: "Tried", reasons: ["429 rate_limited"] })
    assert.deepStrictEqual(whyNotOf(decided, "c-behind"), { _tag: "Behind", place: 3, score: 0.5, best: 0.9 })
    assert.deepStrictEqual(whyNotOf(decided, "p/out"), { _tag: "LeftOut", exclusion: excluded })
    assert.isNull(whyNotOf(decided, "p/none"))
  })

  it("is answered by the target alone where it was none of the candidates", () => {
    const alone = (...candidates: ReadonlyArray<ReturnType<typeof candidate>>) => ({ ...decided, candidates })
    const noTarget = { _tag: "NoTarget", isShortened: false } as const
    assert.deepStrictEqual(whyNoTarget(decided, alone(candidate("x"))), noTarget)
    assert.deepStrictEqual(whyNoTarget(decided, alone(candidate("x", { excluded }), candidate("x"))), noTarget)
    assert.deepStrictEqual(whyNoTarget(decided, alone(candidate("x", { excluded }))), {
      _tag: "Unusable",
      exclusion: excluded
    })
    assert.deepStrictEqual(whyNoTarget({ ...decided, candidatesLeftOut: 3 }, alone(candidate("x"))), {
      _tag: "NoTarget",
      isShortened: true
    })
  })
})

describe.skipIf(browserPath === null)("the detail of a request", () => {
  const { enter, gateway, manage, upstream } = world()
  let moved = ""
  const key = { id: "", secret: "" }
  const askAs = async (model: string, more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const answer = await fetch(`${gateway().url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key.secret, ...more },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] })
    })
    await answer.text()
    return answer.headers.get("x-gateway-request-id") ?? ""
  }

  beforeAll(async () => {
    const account = { apiKey: "sk-abcdefghijklmnopqrstuvwx1", baseUrl: upstream().url }
    for (const [provider, models] of [
      ["openai", ["gpt-4o", "gpt-4o-mini"]],
      ["groq", ["gpt-4o-mini"]],
      ["xai", ["flaky"]]
    ] as const) {
      await manage("POST", "/api/providers", { provider, name: provider, models, ...account })
    }
    upstream().answers.set("flaky", failing(500, "Overloaded."))
    await manage("POST", "/api/combos", {
      name: "best",
      strategy: "priority",
      targets: [{ model: "xai/flaky" }, { model: "openai/gpt-4o-mini" }]
    })
    const made = await manage<{ key: { id: string }; secret: string }>("POST", "/api/keys", {
      name: "ci",
      allowedProviders: ["openai", "xai"]
    })
    Object.assign(key, { id: made.key.id, secret: made.secret })
    moved = await askAs("best", { "x-session-id": "session-7" })
    await askAs("openai/gpt-4o", { "x-session-id": "session-7" })
  })

  it("has who asked, the time line, tokens and money, also of a request that is on no page of the list", async () => {
    const page = await enter(`requests/${moved}?q=asked:nobody`)
    const detail = page.getByRole("region", { name: "Request", exact: true })
    await detail.getByRole("link", { name: "ci", exact: true }).waitFor()
    const line = detail.getByRole("list", { name: "Time line" })
    await line.getByText("Read and decided").waitFor()
    assert.match(await line.innerText(), /xai\/flaky 500[^]*openai\/gpt-4o-mini/)
    const bill = detail.getByRole("region", { name: "Tokens and money" })
    assert.match(await bill.innerText(), /Prompt\s+812[^]*Answer\s+190[^]*\$0\.\d+/)
    await detail.getByText(/this one was not captured/).waitFor()
    assert.deepStrictEqual(await violations(page), [])
  })

  it("says why not, for a candidate, a target of no combo, one without a connection and one that the key may not have", async () => {
    const page = await enter(`requests/${moved}`)
    const why = page.getByRole("region", { name: "Why not another target" })
    for (const [target, answer] of [
      ["xai/flaky", "It was called and failed: 500"],
      ["openai/gpt-4o-mini", "It served this request."],
      ["openai/gpt-4o", "It could be called now, but best has no such target"],
      [
        "groq/gpt-4o-mini",
        "No connection and model that this API key may use serves 'groq/gpt-4o-mini' (allowedProviders"
      ]
    ] as const) {
      await why.getByLabel("Why not").fill(target)
      await why.getByRole("button", { name: "Why not?" }).click()
      await why.getByRole("status").getByText(answer).waitFor()
    }
    await why.getByLabel("Why not").fill("mistral/large")
    await why.getByRole("button", { name: "Why not?" }).click()
    await why.getByRole("alert").getByText("mistral").waitFor()
  })

  it("simulates such requests without the target that failed, beside how it is", async () => {
    const page = await enter(`requests/${moved}`)
    const without = page.getByRole("region", { name: "Simulation without a target" }).first()
    assert.strictEqual(await without.getByLabel("Without").inputValue(), "xai/flaky")
    await without.getByRole("button", { name: "Simulate" }).click()
    await without.getByRole("columnheader", { name: "Without xai/flaky" }).waitFor()
    const shares = await without.getByRole("row", { name: /Served by openai\/gpt-4o-mini/ }).innerText()
    assert.match(shares, /0\s?%\s+100\s?%/)
    assert.match(await without.getByRole("row", { name: /^Served 1/ }).innerText(), /1,000\s+1,000/)
  })

  it("lists the session's other requests, and opens one of them", async () => {
    const page = await enter(`requests/${moved}`)
    await page.getByText("Session's other requests").click()
    const others = page.locator(".session")
    await others.getByRole("link", { name: "openai/gpt-4o" }).waitFor()
    assert.strictEqual(await others.getByRole("listitem").count(), 1)
    await page.getByRole("link", { name: "All requests of this session" }).click()
    await page.waitForURL(/q=session/)
    assert.strictEqual(await page.getByLabel("Filter").inputValue(), 'session:"session-7"')
  })

  it("keeps a filter by a name for every administrator, and takes a removed one back", async () => {
    const hostile = `slow <img src=x onerror="alert(1)">\u202Egnp`
    const page = await enter("requests?q=status:failed")
    await page.getByText("Saved views").click()
    await page.getByText("No view is saved yet").waitFor()
    await page.getByLabel("Save as a view named").fill(hostile)
    await page.getByRole("button", { name: "Save", exact: true }).click()
    const other = await enter("requests")
    await other.getByText("Saved views").click()
    await other.getByRole("link", { name: /^slow <img/ }).click()
    await other.waitForURL(/q=status%3Afailed/)
    assert.strictEqual(await other.getByLabel("Filter").inputValue(), "status:failed")
    assert.strictEqual(await other.locator("main img").count(), 0)
    assert.deepStrictEqual(await violations(other), [])
    await other.getByRole("button", { name: /^Remove the view slow/ }).click()
    await other.getByText("No view is saved yet").waitFor()
    await other.getByRole("button", { name: "Undo" }).click()
    await other.getByRole("link", { name: /^slow <img/ }).waitFor()
    const { dashboard } = await manage<{ dashboard: { requestViews: Record<string, string> } }>("GET", "/api/settings")
    assert.deepStrictEqual(dashboard.requestViews, { [hostile]: "status:failed" })
  })
})
