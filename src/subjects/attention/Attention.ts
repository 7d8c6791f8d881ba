/**
 * Gathers what of the gateway's state needs a person. Accounts are looked at in slices, so that no request waits for a thousand of them. While a client
 * listens to the feed, or a webhook wants to know, changes are told (`Watch.ts`).
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LazyPlugins } from "../../agents/plugins/LazyPlugins.ts"
import { Tunnels } from "../../net/tunnels/Tunnels.ts"
import { LazyCapture } from "../../observe/capture/LazyCapture.ts"
import { Events } from "../../observe/Events.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { ModelLists } from "../../plane/providers/ModelLists.ts"
import { signInOf } from "../../plane/providers/registry/signIn.ts"
import { Breakers } from "../../plane/resilience/breaker/Breakers.ts"
import { Cooldowns } from "../../plane/resilience/cooldown/Cooldowns.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { QuotaWindows } from "../../plane/routing/quota/QuotaWindows.ts"
import { DecisionLog } from "../../plane/routing/records/DecisionLog.ts"
import { Claims } from "../../plane/state/Claims.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Backup } from "../../store/Backup.ts"
import { describeStoreFailure, type StoreError } from "../../store/Errors.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import * as BackupSchedule from "../backups/BackupSchedule.ts"
import type { Connection } from "../connections/entity.ts"
import { classOf, healthAt, standingOf } from "../connections/Standings.ts"
import { Flags } from "../flags/service.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { Limits } from "../limits/service.ts"
import { clientVariable } from "../oauth/service.ts"
import { UsageRepo } from "../usage/repo.ts"
import { UsageHistory } from "../usageHistory/service.ts"
import { type Webhook, wants } from "../webhooks/entity.ts"
import { Outbox } from "../webhooks/Outbox.ts"
import { WebhookRepo } from "../webhooks/repo.ts"
import type { AttentionItem } from "./entity.ts"
import * as Rules from "./rules.ts"
import { watch } from "./Watch.ts"

export class Attention extends Context.Tag("gateway/subjects/attention/Attention")<
  Attention,
  {
    /** Lists what needs a person, the worst first. */
    readonly list: Effect.Effect<ReadonlyArray<AttentionItem>, StoreError>
  }
>() {}

/** Prices are looked at once a minute: models come and go slowly. */
const pricesForMs = 60_000
const dayMs = 86_400_000
/** Newest rows that are looked through for parts without a price. */
const lookedRows = 200

const wantsAttention = (webhook: Webhook): boolean =>
  wants(webhook, "attention.raised") || wants(webhook, "attention.cleared")

const services = Effect.all({
  config: AppConfig,
  catalog: Catalog,
  cooldowns: Cooldowns,
  breakers: Breakers,
  lists: ModelLists,
  quotas: QuotaWindows,
  slices: Slices,
  limits: Limits,
  keys: ApiKeys,
  webhooks: WebhookRepo,
  outbox: Outbox,
  tunnels: Tunnels,
  backup: Backup,
  settings: GatewaySettings,
  flags: Flags,
  plugins: LazyPlugins,
  capture: LazyCapture,
  history: UsageHistory,
  usage: UsageRepo,
  journal: UsageJournal,
  decisions: DecisionLog,
  events: Events
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly startedMs: number
}

/** Signing in again takes the client of the connection, or one that the environment names: without either a person has to name one first. */
const signInAgain = ({ config }: Deps, { oauth, provider }: Connection): Rules.AccountFacts["signIn"] => {
  const way = signInOf(provider)
  const clientId = oauth?.clientId ?? null
  if (way === null || (clientId === null && !config.environment.get(clientVariable(provider, "ID")))) return null
  return { action: way === "device" ? "device-code" : "authorize", clientId }
}

const accountOf = (deps: Deps, connection: Connection, nowMs: number): Rules.AccountFacts => {
  const { cooldowns, lists, quotas } = deps
  const health = cooldowns.healthOf(connection.id)
  return {
    connection,
    health: healthAt(health, nowMs),
    standing: standingOf(connection, health, nowMs),
    listProblem: lists.stateOf(connection.id)?.problem ?? null,
    quotas: quotas.knows(connection) ? quotas.views(connection, nowMs) : [],
    signIn: signInAgain(deps, connection)
  }
}

const accounts = Effect.fnUntraced(function* (deps: Deps, nowMs: number) {
  const { connections } = deps.catalog.current()
  const found: Array<AttentionItem> = []
  yield* deps.slices.each(connections, (connection) => {
    for (const each of Rules.accountItems(accountOf(deps, connection, nowMs), nowMs)) found.push(each)
  })
  return found
})

const limitItems = Effect.fnUntraced(function* ({ keys, limits, slices }: Deps, nowMs: number) {
  const nameOf = (id: string): string | null => keys.get(id)?.name ?? null
  const budgets = yield* limits.budgets
  const tokens = yield* Effect.catchTag(limits.tokenLimits(), "EntityNotFound", () => Effect.succeed([]))
  const found: Array<AttentionItem> = []
  yield* slices.each(budgets, (each) => found.push(...Rules.budgetItems([each], nameOf, nowMs)))
  yield* slices.each(tokens, (each) => found.push(...Rules.tokenLimitItems([each], nameOf, nowMs)))
  return found
})

const backups = Effect.fnUntraced(function* ({ backup, settings, startedMs }: Deps, nowMs: number) {
  const { autoBackupEnabled, frequency } = settings.current().backup
  const listed = yield* Effect.either(backup.list)
  const attempt = BackupSchedule.lastAttempt(backup)
  // One that was made by hand is what the schedule was to make.
  const latest = listed._tag === "Right" ? listed.right[0] : undefined
  const lastMs = Math.max(latest?.createdAtMs ?? 0, attempt?.problem === null ? attempt.atMs : 0)
  const unreadable = listed._tag === "Left" ? { atMs: nowMs, message: describeStoreFailure(listed.left) } : null
  const failed = attempt === null || attempt.problem === null ? null : { atMs: attempt.atMs, message: attempt.problem }
  return Rules.backupItems(
    {
      isOn: autoBackupEnabled,
      everyMs: BackupSchedule.periodMs[frequency],
      lastMs: lastMs === 0 ? null : lastMs,
      startedMs,
      problem: failed ?? unreadable
    },
    nowMs
  )
})

const plugins = Effect.fnUntraced(function* ({ plugins: lazy }: Deps) {
  const built = lazy.current()
  if (built === null) return []
  const all = yield* built.plugins.list("error")
  return Rules.pluginItems(
    all.map(({ manifest, stored }) => ({
      name: stored.name,
      status: stored.status,
      lastError: stored.lastError,
      failClosed: manifest.failClosed
    }))
  )
})

const captures = Effect.fnUntraced(function* ({ capture }: Deps) {
  const built = capture.current()
  if (built === null) return []
  const { httpProxy, systemProxy, tlsIntercept, transparent } = yield* built.modes
  return Rules.captureItems({
    systemProxy: systemProxy.applied,
    transparentSinceMs: transparent.running ? (transparent.startedAtMs ?? 0) : null,
    httpProxyPort: httpProxy.running ? httpProxy.port : null,
    decrypts: tlsIntercept
  })
})

/** Models of the last day that cost 0 because no price says otherwise: by the sums, and by the parts that the newest rows name. */
const unpriced = Effect.fnUntraced(function* ({ history, usage }: Deps, nowMs: number) {
  const found = new Map<string, Rules.UnpricedModel>()
  const report = yield* Effect.option(history.analytics({ range: "24h", timeZone: "UTC" }))
  if (report._tag === "Some") {
    for (const { name, provider, unpriced: requests } of report.value.breakdown.models) {
      if (requests > 0) found.set(`${provider}/${name}`, { provider, model: name, requests, parts: [] })
    }
  }
  const { rows } = yield* usage.page({ limit: lookedRows, cursor: null, filter: { sinceMs: nowMs - dayMs } })
  for (const { costNotes, model, priced, provider } of rows) {
    const parts = costNotes?.unpricedParts ?? []
    if (provider === null || model === null || !priced || parts.length === 0) continue
    const key = `${provider}/${model}`
    const known = found.get(key)
    if (known === undefined) found.set(key, { provider, model, requests: null, parts })
    else if (known.parts.length > 0) found.set(key, { ...known, parts: [...new Set([...known.parts, ...parts])] })
  }
  return [...found.values()]
})

const logs = ({ decisions, journal }: Deps) => {
  const { dropped, problem } = journal.trouble()
  return Rules.logItems([
    { id: "usage", name: "Usage log", lost: dropped, problem },
    { id: "decisions", name: "Decisions", lost: decisions.notStored(), problem: null }
  ])
}

const gathered = Effect.fn("Attention.list")(function* (deps: Deps, prices: ReadonlyArray<Rules.UnpricedModel>) {
  const nowMs = yield* Clock.currentTimeMillis
  const { breakers, catalog, flags, slices, tunnels, webhooks } = deps
  const found = [
    ...(yield* accounts(deps, nowMs)),
    ...Rules.breakerItems(breakers.list(nowMs, classOf(catalog.current())))
  ]
  yield* slices.turn
  for (const items of [
    yield* limitItems(deps, nowMs),
    Rules.webhookItems(yield* webhooks.list),
    Rules.tunnelItems(yield* tunnels.list),
    yield* backups(deps, nowMs),
    Rules.flagItems(yield* flags.list),
    yield* plugins(deps),
    yield* captures(deps),
    Rules.priceItems(prices),
    logs(deps)
  ]) {
    for (const each of items) found.push(each)
  }
  return Rules.inOrder(found)
})

export const make = Effect.gen(function* () {
  const deps: Deps = { ...(yield* services), startedMs: yield* Clock.currentTimeMillis }
  const prices = yield* Effect.cachedWithTTL(
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => unpriced(deps, nowMs)),
    pricesForMs
  )
  const list = Effect.flatMap(prices, (models) => gathered(deps, models))
  const { holds } = yield* Claims
  const { isAttentionWanted: isFeedHeard, publish } = deps.events
  // Of several gateways on a database one tells, as all of them see the same.
  const isWebhookThere = (): boolean => holds("attention") && deps.outbox.webhooks().some(wantsAttention)
  yield* Effect.forkScoped(watch({ list, isFeedHeard, isWebhookThere, publish }))
  return Attention.of({ list })
})

export const layer = Layer.scoped(Attention, make)
