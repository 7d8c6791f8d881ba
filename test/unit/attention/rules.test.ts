/** What needs a person, from the facts; and that each thing to do about it is a request that this API takes. */
import { assert, it } from "@effect/vitest"
import * as HttpApi from "@effect/platform/HttpApi"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { GatewayApi } from "../../../src/contract/Api.ts"
import { match } from "../../../src/contract/Routes.ts"
import { attentionKinds, type AttentionItem } from "../../../src/subjects/attention/entity.ts"
import * as Rules from "../../../src/subjects/attention/rules.ts"
import { healthy } from "../../../src/subjects/connections/entity.ts"
import type { TunnelStatus } from "../../../src/subjects/tunnels/entity.ts"
import { connection } from "../../support/Records.ts"

const nowMs = Date.UTC(2035, 0, 10, 12)
const hourMs = 3_600_000

const account = (given: Partial<Rules.AccountFacts>): Rules.AccountFacts => ({
  connection: connection({ id: "0199aa6e-5c00-7000-8f3e-1f0c9d2b7a64", name: "work", provider: "openai" }),
  health: healthy,
  standing: "available",
  listProblem: null,
  quotas: [],
  signIn: { action: "authorize", clientId: null },
  ...given
})

const quota = (used: number) => ({
  window: "daily" as const,
  unit: "requests" as const,
  source: "declared" as const,
  used,
  total: 100,
  remaining: 100 - used,
  resetAtMs: nowMs + 12 * hourMs,
  untilMs: nowMs + 12 * hourMs
})

const budget = (used: number): Parameters<typeof Rules.budgetItems>[0][number] => ({
  apiKeyId: "k",
  budget: null,
  spentNanoUsd: used,
  reservedNanoUsd: 0,
  remainingNanoUsd: 0,
  windowStartMs: 0,
  nextResetAtMs: 0,
  warning: false,
  windows: [
    {
      spec: {
        id: "b",
        unit: "usd",
        rule: { interval: "daily", resetTime: "00:00", timeZone: "UTC" },
        limit: 1e9,
        warningThreshold: 0.8,
        scope: null
      },
      window: { startMs: nowMs - 12 * hourMs, endMs: nowMs + 12 * hourMs, used, reserved: 0, notified: null }
    }
  ]
})

const tokenLimit = (used: number): Parameters<typeof Rules.tokenLimitItems>[0][number] => ({
  limit: {
    id: "t",
    apiKeyId: "k",
    scopeType: "global",
    scopeValue: "",
    tokenLimit: 1_000,
    resetInterval: "daily",
    resetTime: "00:00",
    timeZone: "UTC",
    enabled: true,
    createdAtMs: 0,
    updatedAtMs: 0
  },
  used,
  reserved: 0,
  windowStartMs: nowMs - 12 * hourMs,
  nextResetAtMs: nowMs + 12 * hourMs
})

const tunnel = (backend: TunnelStatus["backend"]): TunnelStatus => ({
  backend,
  phase: "error",
  running: false,
  publicUrl: null,
  apiUrl: null,
  targetUrl: null,
  lastError: "it closed",
  warning: null,
  sinceMs: nowMs,
  restarts: 0,
  allowKeyless: false
})

const backup = { isOn: true, everyMs: 24 * hourMs, lastMs: nowMs - 60 * hourMs, startedMs: 0, problem: null }
const webhook = {
  id: "w",
  url: "https://user:secret@hooks.example/secret-path",
  events: ["*"],
  kind: "custom" as const,
  mail: null,
  secret: null,
  enabled: false,
  description: null,
  timeZone: "UTC",
  quietHours: null,
  createdAtMs: 0,
  lastTriggeredAtMs: nowMs,
  lastStatus: 500,
  failureCount: 10
}

const oauth = {
  accessToken: null as never,
  refreshToken: null,
  expiresAtMs: nowMs + hourMs,
  clientId: null,
  clientSecret: null,
  tokenUrl: null
}

const all: ReadonlyArray<AttentionItem> = Rules.inOrder([
  ...Rules.accountItems(
    account({ standing: "terminal", health: { ...healthy, testStatus: "banned", lastError: "no more" } }),
    nowMs
  ),
  ...Rules.accountItems(
    account({
      standing: "cooling",
      health: { ...healthy, rateLimitedUntilMs: nowMs + 1_000 },
      listProblem: "status 500"
    }),
    nowMs
  ),
  ...Rules.accountItems(account({ quotas: [quota(100)] }), nowMs),
  ...Rules.accountItems(account({ quotas: [quota(80)] }), nowMs),
  ...Rules.accountItems(
    account({ connection: connection({ id: "o", authType: "oauth", oauth, provider: "codex" }) }),
    nowMs
  ),
  ...Rules.breakerItems([
    { provider: "openai", class: "apikey", state: "OPEN", failures: 5, openedAtMs: nowMs, retryAfterMs: null },
    { provider: "groq", class: "apikey", state: "HALF_OPEN", failures: 5, openedAtMs: nowMs, retryAfterMs: null },
    { provider: "mistral", class: "apikey", state: "CLOSED", failures: 0, openedAtMs: null, retryAfterMs: null }
  ]),
  ...Rules.budgetItems([budget(1e9), budget(0.9e9)], () => "laptop", nowMs),
  ...Rules.tokenLimitItems([tokenLimit(1_000), tokenLimit(900)], () => "laptop", nowMs),
  ...Rules.webhookItems([webhook, { ...webhook, id: "x", enabled: true }]),
  ...Rules.tunnelItems((["quick", "token", "ssh", "mesh"] as const).map(tunnel)),
  ...Rules.backupItems({ ...backup, problem: { atMs: nowMs, message: "the disk is full" } }, nowMs),
  ...Rules.backupItems(backup, nowMs),
  ...Rules.flagItems([{ key: "REQUIRE_API_KEY", pendingRestart: true }]),
  ...Rules.pluginItems([{ name: "word-guard", status: "error", lastError: "threw", failClosed: true }]),
  ...Rules.captureItems({ systemProxy: true, transparentSinceMs: nowMs, httpProxyPort: 8_080, decrypts: true }),
  ...Rules.priceItems([
    { provider: "p", model: "m", requests: 3, parts: [] },
    { provider: "p", model: "n", requests: null, parts: ["webSearches"] }
  ]),
  ...Rules.logItems([{ id: "usage", name: "Usage log", lost: 4, problem: "the disk is full" }])
])

interface Operation {
  readonly payload: Schema.Schema<unknown> | null
}

const operations = new Map<string, Operation>()
HttpApi.reflect(GatewayApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    operations.set(`${group.identifier}.${endpoint.name}`, {
      payload: Option.getOrNull(endpoint.payloadSchema) as Schema.Schema<unknown> | null
    })
  }
})

it("has an item of every kind", () => {
  assert.deepStrictEqual([...new Set(all.map(({ kind }) => kind))].toSorted(), [...attentionKinds].toSorted())
  assert.deepStrictEqual(
    all.map(({ severity }) => severity),
    all
      .map(({ severity }) => severity)
      .toSorted((a, b) => ["error", "warning", "info"].indexOf(a) - ["error", "warning", "info"].indexOf(b))
  )
})

it("names a request of this API for everything that can be done, with a body that it takes", () => {
  let bodies = 0
  for (const { actions, kind, text } of all) {
    assert.isAbove(actions.length, 0, kind)
    assert.match(text, /^[A-Z0-9].*\.$/, kind)
    for (const { body, label, method, path } of actions) {
      const found = match(method, path.split("?")[0] ?? "")
      assert.strictEqual(found._tag, "Found", `${kind}: ${method} ${path}`)
      if (found._tag !== "Found") continue
      assert.strictEqual(found.route.method, method)
      const operation = operations.get(found.route.key)
      assert.isDefined(operation, found.route.key)
      const payload = operation?.payload ?? null
      const said = `${kind}, ${label}: ${method} ${path} ${JSON.stringify(body)}`
      if (payload === null) assert.isNull(body, said)
      else {
        const decoded = Schema.decodeUnknownEither(payload as Schema.Schema<unknown>, { onExcessProperty: "error" })(
          body
        )
        assert.isTrue(Either.isRight(decoded), `${said}: ${Either.isLeft(decoded) ? String(decoded.left) : ""}`)
        bodies += 1
      }
    }
  }
  assert.isAbove(bodies, 8)
})

it("shows no part of an address that may be secret", () => {
  assert.notMatch(JSON.stringify(all), /secret/)
})

it("says when something is used up if it goes on as so far", () => {
  const window = { used: 80, total: 100, startMs: nowMs - 12 * hourMs, endMs: nowMs + 12 * hourMs }
  assert.strictEqual(Rules.exhaustedAtMs(window, nowMs), nowMs + 3 * hourMs)
  assert.isNull(Rules.exhaustedAtMs({ ...window, used: 40 }, nowMs), "it lasts")
  assert.isNull(Rules.exhaustedAtMs({ ...window, used: 20 }, nowMs), "too little is used")
  assert.isNull(Rules.exhaustedAtMs({ ...window, startMs: nowMs - hourMs / 10 }, nowMs), "it has just begun")
  assert.isNull(Rules.exhaustedAtMs({ ...window, total: 0 }, nowMs), "there is no limit")
})

it("has nothing to say where all is well", () => {
  assert.isEmpty(Rules.accountItems(account({ quotas: [quota(10)] }), nowMs))
  const off = connection({ id: "off", provider: "openai", isActive: false })
  assert.isEmpty(Rules.accountItems(account({ connection: off, standing: "inactive", listProblem: "x" }), nowMs))
  assert.isEmpty(Rules.budgetItems([budget(0.1e9)], () => null, nowMs))
  assert.isEmpty(Rules.webhookItems([{ ...webhook, enabled: true, failureCount: 1 }]))
  assert.isEmpty(Rules.webhookItems([{ ...webhook, enabled: false, failureCount: 0 }]))
  assert.isEmpty(Rules.tunnelItems([{ ...tunnel("quick"), phase: "stopped" }]))
  assert.isEmpty(Rules.backupItems({ ...backup, lastMs: nowMs - hourMs }, nowMs))
  assert.isEmpty(Rules.backupItems({ ...backup, isOn: false }, nowMs))
  assert.isEmpty(Rules.backupItems({ ...backup, startedMs: nowMs - hourMs }, nowMs))
  assert.isEmpty(Rules.flagItems([{ key: "X", pendingRestart: false }]))
  assert.isEmpty(
    Rules.captureItems({ systemProxy: false, transparentSinceMs: null, httpProxyPort: null, decrypts: true })
  )
  assert.isEmpty(Rules.logItems([{ id: "usage", name: "Usage log", lost: 0, problem: null }]))
})
