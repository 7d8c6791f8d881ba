/** Pure parts of the first page and of the way to add a provider. */
import { assert, describe, it } from "vitest"
import {
  type Action,
  budgetOf,
  intervalOf,
  inverseOf,
  type Item,
  limitOf,
  placeOfAction,
  refusalIn,
  rowsOf,
  withTimes
} from "../../src/dashboard/views/home/actions.ts"
import { endingsOf } from "../../src/dashboard/views/home/next.ts"
import { dailyOf, figuresOf, spentSince } from "../../src/dashboard/views/home/now.ts"
import { isNew, lookedAt, stepsOf } from "../../src/dashboard/views/home/steps.ts"
import { stripOf } from "../../src/dashboard/views/home/strip.ts"
import {
  connectionOf,
  looksOdd,
  missingOf,
  nothingTyped,
  type Target
} from "../../src/dashboard/views/providers/add/target.ts"
import { left } from "../../src/dashboard/ui/time/left.ts"

const nowMs = Date.parse("2035-01-01T12:00:00.000Z")
const later = (ms: number): string => new Date(nowMs + ms).toISOString()

const action = (method: Action["method"], path: string, body: Action["body"] = null): Action => ({
  label: "Do it",
  method,
  path,
  body
})
const item = (type: Item["subject"]["type"], id: string, kind: Item["kind"] = "connectionEnded"): Item => ({
  id: `${kind}:${id}`,
  severity: "error",
  kind,
  subject: { type, id, name: id },
  since: null,
  changesAt: null,
  text: "",
  actions: []
})

describe("buttons of what needs a person", () => {
  it("lead to a place where nothing is changed, or where a question comes first", () => {
    const account = item("connection", "c/1")
    for (const [asked, of, place] of [
      [action("GET", "/api/usage/c%2F1"), account, "providers/c%2F1"],
      [action("GET", "/api/usage/budget?apiKeyId=k1"), item("apiKey", "k1"), "keys/k1"],
      [action("GET", "/api/usage/token-limits?apiKeyId=k1"), item("tokenLimit", "l1"), "keys/k1"],
      [action("GET", "/api/pricing"), item("model", "openai/x y"), "providers/models?q=openai%2Fx%20y"],
      [action("POST", "/api/oauth/codex/authorize", { name: "work" }), account, "providers/c%2F1/sign-in"],
      [action("POST", "/api/restart"), item("flag", "A_FLAG"), "system/flags?q=A_FLAG"],
      [action("POST", "/api/tunnels/quick", { action: "enable" }), item("tunnel", "quick"), "system/tunnels"],
      [action("GET", "/api/webhooks/w1/deliveries"), item("webhook", "w1"), "system/webhooks/w1"],
      // These send their request.
      [action("POST", "/api/tunnels/quick", { action: "disable" }), item("tunnel", "quick"), null],
      [action("GET", "/api/providers/c1/models"), account, null],
      [action("POST", "/api/providers/c1/test"), account, null],
      [action("DELETE", "/api/resilience/cooldowns", { connectionId: "c1" }), account, null]
    ] as const) {
      assert.strictEqual(placeOfAction(asked, of), place, asked.path)
    }
  })

  it("are taken back where the request is a switch, a budget or a limit", () => {
    assert.deepStrictEqual(inverseOf(action("PUT", "/api/providers/c1", { isActive: false }))?.body, { isActive: true })
    assert.isNull(inverseOf(action("PUT", "/api/providers/c1", { isActive: false, name: "x" })))
    assert.isNull(inverseOf(action("POST", "/api/providers/c1/test")))
    assert.isNull(inverseOf(action("PUT", "/api/db-backups")))
    assert.strictEqual(budgetOf(action("DELETE", "/api/usage/budget?apiKeyId=k%201")), "k 1")
    assert.strictEqual(budgetOf(action("POST", "/api/usage/budget", { apiKeyId: "k1", dailyLimitUsd: 2 })), "k1")
    assert.isNull(budgetOf(action("GET", "/api/usage/budget?apiKeyId=k1")))
    assert.strictEqual(intervalOf({ id: "budgetExhausted:k1:daily" }), "daily")
    assert.strictEqual(limitOf(action("DELETE", "/api/usage/token-limits?id=l1")), "l1")
  })

  it("tell an answer that says by itself that it did not work", () => {
    assert.strictEqual(refusalIn(`{"ok":false,"error":"no credits"}`), "no credits")
    assert.strictEqual(refusalIn(`{"ok":false}`), "")
    assert.strictEqual(refusalIn(`{"models":[],"error":"not listed"}`), "not listed")
    for (const text of [null, "", "[]", "null", `{"ok":true,"error":null}`, "{", `{"error":null}`]) {
      assert.isNull(refusalIn(text), String(text))
    }
  })

  it("have times by the reader's clock, and one row for many models without a price", () => {
    assert.deepStrictEqual(withTimes("Used up at 2035-01-01 17:20 UTC, then."), [
      { text: "Used up at " },
      { at: "2035-01-01T17:20:00.000Z" },
      { text: ", then." }
    ])
    const models = ["a", "b"].map((id) => item("model", id, "modelUnpriced"))
    assert.deepStrictEqual(rowsOf([item("log", "usage"), ...models]).unpriced, models)
    assert.strictEqual(rowsOf(models.slice(1)).single.length, 1)
  })
})

const account = (provider: string, more: object = {}) => ({
  provider,
  isActive: true,
  testStatus: "active" as const,
  rateLimitedUntil: null,
  ...more
})
const breaker = (provider: string, state: "OPEN" | "HALF_OPEN" | "CLOSED", retryAfterMs: number | null = null) => ({
  provider,
  state,
  class: "apikey" as const,
  failures: 3,
  openedAt: null,
  retryAfterMs
})

describe("the line of providers", () => {
  it("says of each the state of its accounts and its breaker, those that need a look first", () => {
    const rows = stripOf(
      [
        account("openai"),
        account("anthropic", { testStatus: "unknown" }),
        account("groq", { testStatus: "unavailable", rateLimitedUntil: later(250_000) }),
        account("groq", { testStatus: "unavailable", rateLimitedUntil: later(90_000) }),
        account("mixed", { testStatus: "expired" }),
        account("mixed"),
        account("broke", { testStatus: "credits_exhausted" }),
        account("off", { isActive: false, testStatus: "banned" }),
        account("local"),
        account("past", { rateLimitedUntil: later(-1) })
      ],
      [breaker("local", "OPEN", 12_000), breaker("past", "CLOSED"), breaker("off", "OPEN", 1)],
      [{ provider: "openai", requests: 1_000, successRate: 0.999 }],
      nowMs
    )
    assert.deepStrictEqual(
      rows.map(({ provider, state }) => [provider, state._tag]),
      [
        ["local", "Open"],
        ["broke", "Ended"],
        ["groq", "Resting"],
        ["mixed", "Some"],
        ["openai", "Works"],
        ["past", "Works"],
        ["anthropic", "Untried"],
        ["off", "Off"]
      ]
    )
    assert.deepStrictEqual(rows[0]?.state, { _tag: "Open", until: later(12_000) })
    assert.deepStrictEqual(rows[2]?.state, { _tag: "Resting", until: later(90_000) })
    assert.strictEqual(rows.find(({ provider }) => provider === "openai")?.successRate, 0.999)
  })
})

describe("figures of the first page", () => {
  const second = (more: object = {}) => ({ inflight: 0, completed: 0, failed: 0, aborted: 0, p95Ms: null, ...more })

  it("are of the feed, and of the minute before it while it has told nothing", () => {
    const before = {
      requests: 120,
      errorRate: 0.01,
      activeConnections: 7,
      providers: [{ provider: "openai", count: 1, p50: 1, p95: 900, p99: 1 }]
    }
    assert.deepStrictEqual(figuresOf([], null), { perSecond: null, failed: null, p95Ms: null, running: null })
    assert.deepStrictEqual(figuresOf([], before), { perSecond: 2, failed: 0.01, p95Ms: 900, running: 7 })
    assert.deepStrictEqual(
      figuresOf([second({ completed: 3, failed: 1, p95Ms: 40, inflight: 2 }), second({ inflight: 1 })], before),
      { perSecond: 2, failed: 0.25, p95Ms: 40, running: 1 }
    )
    assert.strictEqual(
      figuresOf(
        Array.from({ length: 10 }, () => second()),
        before
      ).perSecond,
      0
    )
  })

  it("add up daily budgets, and what was spent since midnight", () => {
    const window = (interval: "daily" | "weekly", limitUsd: number, spentUsd: number) => ({
      interval,
      limitUsd,
      spentUsd,
      reservedUsd: 0,
      windowStart: later(-3_600_000),
      nextResetAt: later(36_000_000)
    })
    const budget = (id: string, ...windows: ReadonlyArray<ReturnType<typeof window>>) => ({
      apiKeyId: id,
      budget: null,
      spentUsd: 0,
      reservedUsd: 0,
      remainingUsd: null,
      windowStart: later(0),
      nextResetAt: later(1),
      warning: false,
      windows
    })
    const budgets = [budget("a", window("daily", 10, 2)), budget("b", window("weekly", 5, 1), window("daily", 1, 0.5))]
    assert.deepStrictEqual(dailyOf(budgets, 2.5), { spentUsd: 2.5, limitUsd: 11, isAll: true })
    assert.strictEqual(dailyOf(budgets, 9)?.isAll, false)
    assert.isNull(dailyOf([], 9))
    const starts = [later(-7_200_000), later(-3_600_000), later(0)]
    assert.strictEqual(spentSince({ starts, total: { costUsd: [1, 2, 4] } }, nowMs - 3_600_000), 6)
    const endings = endingsOf(
      [budget("a", window("daily", 10, 5))],
      [
        {
          connectionId: "c1",
          connectionName: "work",
          provider: "openai",
          plan: null,
          window: "daily",
          model: null,
          used: 90,
          total: 100,
          remaining: 10,
          remainingPercentage: 10,
          unit: "requests",
          resetAt: later(36_000_000),
          exhaustedAt: later(60_000),
          source: "declared",
          basis: "forecast"
        }
      ],
      (id) => `key ${id}`,
      nowMs
    )
    assert.deepStrictEqual(
      endings.map(({ _tag, atMs, name, used }) => [_tag, name, used, atMs - nowMs]),
      [
        ["Quota", "openai / work", 0.9, 60_000],
        ["Budget", "key a", 0.5, 3_600_000]
      ]
    )
  })

  it("tell the steps of a new gateway by who has asked", () => {
    const row = (
      principal: "key" | "session" | "operator" | "anonymous",
      outcome: "completed" | "failed" = "completed"
    ) => ({
      principal,
      outcome
    })
    assert.isTrue(isNew(stepsOf(0, [])))
    assert.deepInclude(stepsOf(1, [row("operator")]), { isAsked: false, isAnswered: false, hasClient: false })
    assert.deepInclude(stepsOf(1, [row("session", "failed")]), { isAsked: true, isAnswered: false })
    assert.deepInclude(stepsOf(1, [row("session")]), { isAnswered: true, hasClient: false })
    assert.isFalse(isNew(stepsOf(1, [row("session"), row("anonymous", "failed")])))
    assert.isFalse(
      isNew(
        stepsOf(
          1,
          Array.from({ length: lookedAt }, () => row("session", "failed"))
        )
      )
    )
    assert.isTrue(
      isNew(
        stepsOf(
          0,
          Array.from({ length: lookedAt }, () => row("key"))
        )
      )
    )
  })

  it("count the time that is left", () => {
    for (const [ms, text] of [
      [-5, "0:00"],
      [8_400, "0:09"],
      [250_000, "4:10"],
      [7_500_000, "2 h 5 min"],
      [200_000_000, "2 d"]
    ] as const) {
      assert.strictEqual(left(ms), text)
    }
  })
})

describe("the way to add a provider", () => {
  const groq = {
    id: "groq",
    name: "Groq",
    aliases: [],
    category: "inference",
    baseUrl: "https://api.groq.com/openai/v1",
    wires: ["chat"],
    paths: {},
    modelsPath: "/models",
    auth: { type: "apikey", header: "authorization", prefix: "Bearer " },
    docsUrl: null,
    keyUrl: null,
    keyHint: "gsk_…",
    needs: ["apiKey"],
    signIn: null,
    models: [],
    sidecar: { eligible: true, reasons: [] }
  } as const
  const known: Target = { _tag: "Known", provider: groq }

  it("knows what is needed, and a key that looks like none of this provider", () => {
    assert.deepStrictEqual(missingOf(known, nothingTyped), ["apiKey"])
    assert.deepStrictEqual(missingOf({ _tag: "New" }, { ...nothingTyped, prefix: "cellar" }), ["baseUrl"])
    assert.isFalse(looksOdd("gsk_abc", "gsk_…"))
    assert.isFalse(looksOdd("gs", "gsk_…"))
    assert.isTrue(looksOdd("sk-abc", "gsk_…"))
    assert.isFalse(looksOdd("anything", null))
    assert.isFalse(looksOdd("", "gsk_…"))
  })

  it("sends what was typed and nothing else", () => {
    const typed = { ...nothingTyped, apiKey: " gsk_1 ", name: "team B", priority: "2" }
    assert.deepStrictEqual<object>(connectionOf(known, typed), {
      provider: "groq",
      apiKey: "gsk_1",
      name: "team B",
      priority: 2
    })
    assert.deepStrictEqual(connectionOf({ _tag: "New" }, { ...nothingTyped, prefix: "p", baseUrl: "http://a/v1" }), {})
  })
})
