/** Decides what of the gateway's state needs a person, and what can be done about it. Pure; times are epoch milliseconds. */
import type { Connection, ConnectionHealth } from "../connections/entity.ts"
import type { Standing } from "../connections/Standings.ts"
import type { BudgetStatus, TokenLimitStatus } from "../limits/service.ts"
import type { TunnelStatus } from "../tunnels/entity.ts"
import type { Webhook } from "../webhooks/entity.ts"
import type { BreakerView } from "../../plane/resilience/breaker/Breakers.ts"
import type { QuotaView } from "../../plane/routing/quota/QuotaState.ts"
import { lengthMs } from "../../plane/routing/quota/Span.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import type { AttentionAction, AttentionItem, AttentionKind, Severity, SubjectType } from "./entity.ts"

type Items = ReadonlyArray<AttentionItem>
const none: Items = []

const maxTextChars = 300

interface ItemFields {
  readonly severity: Severity
  readonly type: SubjectType
  readonly id: string
  readonly name?: string
  readonly sinceMs?: number | null
  readonly changesAtMs?: number | null
  readonly text: string
  readonly actions: ReadonlyArray<AttentionAction>
  /** Tells several of one kind and subject apart. */
  readonly part?: string
}

const item = (kind: AttentionKind, given: ItemFields): AttentionItem => ({
  id: [kind, given.id, ...(given.part === undefined ? [] : [given.part])].join(":"),
  severity: given.severity,
  kind,
  subject: { type: given.type, id: given.id, name: given.name ?? given.id },
  sinceMs: given.sinceMs ?? null,
  changesAtMs: given.changesAtMs ?? null,
  text: given.text.slice(0, maxTextChars),
  actions: given.actions
})

const action = (
  label: string,
  method: AttentionAction["method"],
  path: string,
  body: AttentionAction["body"] = null
): AttentionAction => ({ label, method, path, body })

const at = (path: string, id: string, rest = ""): string => `${path}/${encodeURIComponent(id)}${rest}`
const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`
const percentOf = (part: number): string => `${Math.round(part * 100)} %`

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** An account with what is known of it. */
export interface AccountFacts {
  readonly connection: Connection
  readonly health: ConnectionHealth
  readonly standing: Standing
  /** Reason for which its model list could not be read; null: it was, or was not asked for. */
  readonly listProblem: string | null
  readonly quotas: ReadonlyArray<QuotaView>
  /** Way to sign in again that needs no more than is known here; null: there is none. */
  readonly signIn: { readonly action: "authorize" | "device-code"; readonly clientId: string | null } | null
}

const endings: Readonly<Record<string, string>> = {
  banned: "The provider has suspended the account.",
  expired: "The provider does not accept its credential any more.",
  credits_exhausted: "Its credits are used up."
}

const because = (text: string | null): string => (text === null || text === "" ? "" : ` ${asSentence(text)}`)

const standingItems = ({ connection, health, standing }: AccountFacts): Items => {
  const { id, name } = connection
  const common = { type: "connection", id, name } as const
  const again = action("Use it again", "DELETE", "/api/resilience/cooldowns", { connectionId: id })
  if (standing === "terminal") {
    const actions = [
      action("Test it", "POST", at("/api/providers", id, "/test")),
      again,
      ...(connection.source === "env"
        ? []
        : [action("Switch it off", "PUT", at("/api/providers", id), { isActive: false })])
    ]
    const text = `${endings[health.testStatus] ?? "It cannot be used."}${because(health.lastError)}`
    return [item("connectionEnded", { ...common, severity: "error", text, actions })]
  }
  if (standing !== "cooling") return none
  const until = health.rateLimitedUntilMs
  const text = `It rests${until === null ? "" : ` until ${timeOf(until)}`}.${because(health.lastError)}`
  return [item("connectionResting", { ...common, severity: "warning", changesAtMs: until, text, actions: [again] })]
}

const listItems = ({ connection: { id, name }, listProblem }: AccountFacts): Items =>
  listProblem === null
    ? none
    : [
        item("modelListFailed", {
          severity: "warning",
          type: "connection",
          id,
          name,
          text: `Its list of models could not be read.${because(listProblem)}`,
          actions: [
            action("Read it again", "GET", at("/api/providers", id, "/models")),
            action("Test the connection", "POST", at("/api/providers", id, "/test"))
          ]
        })
      ]

/** Part of a window that has to be over, and of its total that has to be used, before its use says how it goes on. */
const leastElapsed = 0.05
const leastUsed = 0.25

interface Window {
  readonly used: number
  readonly total: number
  readonly startMs: number
  readonly endMs: number
}

/** Time at which a window is used up if it goes on as so far; null: not before its end, or too little is known. */
export const exhaustedAtMs = ({ endMs, startMs, total, used }: Window, nowMs: number): number | null => {
  const elapsedMs = nowMs - startMs
  if (total <= 0 || used >= total || elapsedMs < (endMs - startMs) * leastElapsed || used < total * leastUsed)
    return null
  const atMs = nowMs + ((total - used) / used) * elapsedMs
  return atMs < endMs ? Math.round(atMs) : null
}

interface WindowTrouble {
  readonly isOver: boolean
  readonly changesAtMs: number
  readonly text: string
}

/** Sentence on the use of a window that needs a person, and when it is used up or renewed; null: none does. */
const windowTrouble = (window: Window, nowMs: number): WindowTrouble | null => {
  if (window.total > 0 && window.used >= window.total) {
    return { isOver: true, changesAtMs: window.endMs, text: `used up until ${timeOf(window.endMs)}` }
  }
  const atMs = exhaustedAtMs(window, nowMs)
  if (atMs === null) return null
  const part = percentOf(window.used / window.total)
  return {
    isOver: false,
    changesAtMs: atMs,
    text: `used to ${part}; as so far it is used up at ${timeOf(atMs)}, before it is renewed at ${timeOf(window.endMs)}`
  }
}

const quotaItems = ({ connection: { id, name }, quotas }: AccountFacts, nowMs: number): Items =>
  quotas.flatMap((quota): Items => {
    const { resetAtMs, total, unit, used, window } = quota
    if (resetAtMs === null) return none
    const trouble = windowTrouble({ used, total, startMs: resetAtMs - lengthMs[window], endMs: resetAtMs }, nowMs)
    if (trouble === null) return none
    return [
      item(trouble.isOver ? "quotaExhausted" : "quotaExhausting", {
        severity: "warning",
        type: "connection",
        id,
        name,
        part: `${window}:${unit}`,
        changesAtMs: trouble.changesAtMs,
        text: `Its ${window} quota of ${unit} is ${trouble.text}.`,
        actions: [action("Show its quotas", "GET", at("/api/usage", id))]
      })
    ]
  })

/** An access token without another one to renew it by is a sign-in that ends. */
const signInWarningMs = 3 * dayMs

const signInItems = ({ connection, signIn }: AccountFacts, nowMs: number): Items => {
  const { authType, id, isActive, name, oauth, provider } = connection
  if (
    authType !== "oauth" ||
    oauth === null ||
    !isActive ||
    oauth.refreshToken !== null ||
    oauth.expiresAtMs === null
  ) {
    return none
  }
  if (oauth.expiresAtMs - nowMs > signInWarningMs) return none
  const isOver = oauth.expiresAtMs <= nowMs
  return [
    item("signInExpiring", {
      severity: isOver ? "error" : "warning",
      type: "connection",
      id,
      name,
      sinceMs: isOver ? oauth.expiresAtMs : null,
      changesAtMs: isOver ? null : oauth.expiresAtMs,
      text: `Its sign-in ${isOver ? "ended" : "ends"} at ${timeOf(oauth.expiresAtMs)}, and nothing is stored to renew it by. Sign in again.`,
      actions: [
        ...(signIn === null
          ? []
          : [
              action("Sign in again", "POST", at("/api/oauth", provider, `/${signIn.action}`), {
                name,
                ...(signIn.clientId === null ? {} : { clientId: signIn.clientId })
              })
            ]),
        action("Test it", "POST", at("/api/providers", id, "/test"))
      ]
    })
  ]
}

/** Lists what one account needs. */
export const accountItems = (facts: AccountFacts, nowMs: number): Items =>
  facts.connection.isActive
    ? [
        ...standingItems(facts),
        ...listItems(facts),
        ...quotaItems(facts, nowMs),
        // One that has ended is told of already.
        ...(facts.standing === "terminal" ? none : signInItems(facts, nowMs))
      ]
    : none

export const breakerItems = (breakers: ReadonlyArray<BreakerView>): Items =>
  breakers
    .filter(({ state }) => state === "OPEN" || state === "HALF_OPEN")
    .map(({ failures, openedAtMs, provider, state }) =>
      item("breakerOpen", {
        severity: state === "OPEN" ? "error" : "warning",
        type: "provider",
        id: provider,
        sinceMs: openedAtMs,
        text:
          state === "OPEN"
            ? `Its breaker is open after ${failures} failures: requests go elsewhere.`
            : "Its breaker tries whether it is well again.",
        actions: [action("Close the breaker", "POST", "/api/resilience/reset", { provider })]
      })
    )

const nano = 1e9

export const budgetItems = (
  budgets: ReadonlyArray<BudgetStatus>,
  keyName: (id: string) => string | null,
  nowMs: number
): Items =>
  budgets.flatMap(({ apiKeyId, windows }) =>
    windows.flatMap(({ spec, window }): Items => {
      const used = window.used + window.reserved
      const { interval } = spec.rule
      const trouble = windowTrouble({ used, total: spec.limit, startMs: window.startMs, endMs: window.endMs }, nowMs)
      if (trouble === null) return none
      const name = keyName(apiKeyId) ?? apiKeyId
      return [
        item(trouble.isOver ? "budgetExhausted" : "budgetExhausting", {
          severity: trouble.isOver ? "error" : "warning",
          type: "apiKey",
          id: apiKeyId,
          name,
          part: interval,
          changesAtMs: trouble.changesAtMs,
          text: `Its ${interval} budget of ${(spec.limit / nano).toFixed(2)} USD is ${trouble.text}.`,
          actions: [
            action("Show the budget", "GET", `/api/usage/budget?apiKeyId=${encodeURIComponent(apiKeyId)}`),
            action("Remove the budget", "DELETE", `/api/usage/budget?apiKeyId=${encodeURIComponent(apiKeyId)}`)
          ]
        })
      ]
    })
  )

export const tokenLimitItems = (
  limits: ReadonlyArray<TokenLimitStatus>,
  keyName: (id: string) => string | null,
  nowMs: number
): Items =>
  limits.flatMap(({ limit, nextResetAtMs, reserved, used, windowStartMs }): Items => {
    if (!limit.enabled) return none
    const window = { used: used + reserved, total: limit.tokenLimit, startMs: windowStartMs, endMs: nextResetAtMs }
    const trouble = windowTrouble(window, nowMs)
    if (trouble === null) return none
    const what = limit.scopeValue === "" ? "tokens" : `tokens of ${limit.scopeValue}`
    const name = keyName(limit.apiKeyId) ?? limit.apiKeyId
    return [
      item(trouble.isOver ? "tokenLimitExhausted" : "tokenLimitExhausting", {
        severity: trouble.isOver ? "error" : "warning",
        type: "tokenLimit",
        id: limit.id,
        name,
        changesAtMs: trouble.changesAtMs,
        text: `The ${limit.resetInterval} limit of ${limit.tokenLimit} ${what} for the key '${name}' is ${trouble.text}.`,
        actions: [
          action("Show the limits", "GET", `/api/usage/token-limits?apiKeyId=${encodeURIComponent(limit.apiKeyId)}`),
          action("Remove the limit", "DELETE", `/api/usage/token-limits?id=${encodeURIComponent(limit.id)}`)
        ]
      })
    ]
  })

/** Failures in a row that are no accident any more. */
const leastFailures = 3

export const webhookItems = (webhooks: ReadonlyArray<Webhook>): Items =>
  webhooks
    .filter(({ enabled, failureCount }) => (enabled ? failureCount >= leastFailures : failureCount > 0))
    .map(({ description, enabled, failureCount, id, lastStatus, lastTriggeredAtMs, url }) => {
      const last = lastStatus === null || lastStatus === 0 ? "no answer" : `status ${lastStatus}`
      return item("webhookDisabled", {
        severity: enabled ? "warning" : "error",
        type: "webhook",
        id,
        name: description ?? hostOf(url),
        sinceMs: lastTriggeredAtMs,
        text: `${failureCount} deliveries have failed, the last one with ${last}.${enabled ? "" : " It is switched off."}`,
        actions: [
          action("Send a test", "POST", at("/api/webhooks", id, "/test")),
          action("Show the deliveries", "GET", at("/api/webhooks", id, "/deliveries")),
          ...(enabled ? [] : [action("Switch it on", "PUT", at("/api/webhooks", id), { enabled: true })])
        ]
      })
    })

/** The rest of an address may hold a secret. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url.slice(0, 60))

const tunnelActions = ({ backend }: TunnelStatus): ReadonlyArray<AttentionAction> =>
  backend === "mesh"
    ? [
        action("Check the mesh VPN", "GET", "/api/tunnels/mesh/check"),
        action("Close it", "POST", "/api/tunnels/mesh/disable", {})
      ]
    : [
        ...(backend === "ssh"
          ? []
          : [action("Open it again", "POST", `/api/tunnels/${backend}`, { action: "enable" })]),
        action("Close it", "POST", `/api/tunnels/${backend}`, { action: "disable" })
      ]

export const tunnelItems = (tunnels: ReadonlyArray<TunnelStatus>): Items =>
  tunnels
    .filter(({ phase }) => phase === "error" || phase === "needs_auth")
    .map((tunnel) =>
      item("tunnelFailed", {
        severity: "error",
        type: "tunnel",
        id: tunnel.backend,
        sinceMs: tunnel.sinceMs,
        text: `The ${tunnel.backend} tunnel ${tunnel.phase === "error" ? "is closed by an error" : "waits for somebody to log in"}.${because(tunnel.lastError)}`,
        actions: tunnelActions(tunnel)
      })
    )

export interface BackupFacts {
  readonly isOn: boolean
  readonly everyMs: number
  /** Last time that one was made, by whatever reason, or found not needed; null: never. */
  readonly lastMs: number | null
  readonly startedMs: number
  /** Failure of the last scheduled one; null: there was none. */
  readonly problem: { readonly atMs: number; readonly message: string } | null
}

export const backupItems = ({ everyMs, isOn, lastMs, problem, startedMs }: BackupFacts, nowMs: number): Items => {
  const make = action("Make one now", "PUT", "/api/db-backups")
  const all = action("Show the backups", "GET", "/api/db-backups")
  if (problem !== null && (lastMs === null || problem.atMs > lastMs)) {
    const text = `The last scheduled backup failed.${because(problem.message)}`
    return [
      item("backupFailed", {
        severity: "error",
        type: "backup",
        id: "scheduled",
        sinceMs: problem.atMs,
        text,
        actions: [make, all]
      })
    ]
  }
  // A gateway that was off is given a period to catch up.
  if (!isOn || nowMs - Math.max(lastMs ?? 0, startedMs) <= 2 * everyMs) return none
  const text = `${lastMs === null ? "There is no backup" : `The last backup is of ${timeOf(lastMs)}`}, although one is to be made every ${Math.round(everyMs / hourMs)} hours.`
  return [
    item("backupOld", {
      severity: "warning",
      type: "backup",
      id: "scheduled",
      sinceMs: lastMs,
      text,
      actions: [make, all]
    })
  ]
}

export const flagItems = (flags: ReadonlyArray<{ readonly key: string; readonly pendingRestart: boolean }>): Items =>
  flags
    .filter(({ pendingRestart }) => pendingRestart)
    .map(({ key }) =>
      item("flagWaiting", {
        severity: "info",
        type: "flag",
        id: key,
        text: `${key} was changed and waits for a restart.`,
        actions: [action("Restart the gateway", "POST", "/api/restart")]
      })
    )

export interface PluginFacts {
  readonly name: string
  readonly status: string
  readonly lastError: string | null
  readonly failClosed: boolean
}

export const pluginItems = (plugins: ReadonlyArray<PluginFacts>): Items =>
  plugins
    .filter(({ status }) => status === "error")
    .map(({ failClosed, lastError, name }) =>
      item("pluginFailed", {
        severity: "error",
        type: "plugin",
        id: name,
        text: `It was stopped.${because(lastError)}${failClosed ? " Requests are refused meanwhile." : ""}`,
        actions: [
          action("Start it again", "POST", at("/api/plugins", name, "/activate"), {}),
          action("Show its log", "GET", at("/api/plugins", name, "/logs"))
        ]
      })
    )

export interface CaptureFacts {
  readonly systemProxy: boolean
  readonly transparentSinceMs: number | null
  readonly httpProxyPort: number | null
  readonly decrypts: boolean
}

const captureItem = (
  id: string,
  name: string,
  sinceMs: number | null,
  text: string,
  off: AttentionAction
): AttentionItem => item("captureOn", { severity: "info", type: "capture", id, name, sinceMs, text, actions: [off] })

const modes = "/api/tools/traffic-inspector/capture-modes"

export const captureItems = ({ decrypts, httpProxyPort, systemProxy, transparentSinceMs }: CaptureFacts): Items => [
  ...(systemProxy
    ? [
        captureItem(
          "system-proxy",
          "Desktop's proxy",
          null,
          "The desktop's proxy is set to the gateway: what its programs send is captured.",
          action("Give it back", "POST", `${modes}/system-proxy`, { action: "revert" })
        )
      ]
    : none),
  ...(transparentSinceMs === null
    ? none
    : [
        captureItem(
          "tproxy",
          "Transparent capture",
          transparentSinceMs,
          "Connections of this machine are captured transparently.",
          action("Stop it", "DELETE", "/api/tools/agent-bridge/tproxy")
        )
      ]),
  ...(httpProxyPort === null
    ? none
    : [
        captureItem(
          "http-proxy",
          "HTTP proxy",
          null,
          `The capturing proxy listens at port ${httpProxyPort}${decrypts ? ", and decrypts HTTPS" : ""}.`,
          action("Stop it", "POST", `${modes}/http-proxy`, { action: "stop" })
        )
      ])
]

export interface UnpricedModel {
  readonly provider: string
  readonly model: string
  /** Requests of the last day; null: of those, only that there were some is known. */
  readonly requests: number | null
  /** Parts that no price covers; empty: no price is known at all. */
  readonly parts: ReadonlyArray<string>
}

export const priceItems = (models: ReadonlyArray<UnpricedModel>): Items =>
  models.map(({ model, parts, provider, requests }) =>
    item("modelUnpriced", {
      severity: "warning",
      type: "model",
      id: `${provider}/${model}`,
      text:
        parts.length === 0
          ? `No price is known for it${requests === null ? "" : `; ${requests} requests of the last day count as 0 USD`}.`
          : `Its price does not say what ${parts.slice(0, 8).join(", ")} cost, so that these count as 0 USD.`,
      actions: [action("Show the prices", "GET", "/api/pricing")]
    })
  )

export interface LogFacts {
  readonly id: "usage" | "decisions"
  readonly name: string
  /** Rows that were given up. */
  readonly lost: number
  /** Problem of now, as a sentence; null: none. */
  readonly problem: string | null
}

export const logItems = (logs: ReadonlyArray<LogFacts>): Items =>
  logs
    .filter(({ lost, problem }) => lost > 0 || problem !== null)
    .map(({ id, lost, name, problem }) =>
      item("logLosing", {
        severity: problem === null ? "warning" : "error",
        type: "log",
        id,
        name,
        text: `${lost === 0 ? "Rows cannot be written." : `${lost} rows were lost since the start.`}${because(problem)} Make room in the data folder.`,
        actions: [action("Show the health", "GET", "/api/monitoring/health")]
      })
    )

const rank: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

/** The worst first, then by kind and name. */
export const inOrder = (items: Items): Items =>
  items.toSorted(
    (one, other) =>
      rank[one.severity] - rank[other.severity] ||
      (one.kind < other.kind ? -1 : one.kind > other.kind ? 1 : one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
  )
