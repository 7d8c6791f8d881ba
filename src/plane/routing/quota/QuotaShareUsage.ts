/**
 * The allocations of quota groups, kept: who may draw on `qtSd/<group>/…` now, and what every API key has drawn of the quotas of the
 * group's members. State in memory, written to the store soon after, so that a restart does not hand out the same quota again.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { QuotaShareUsed } from "../../../contract/domain/Errors.ts"
import type { QuotaGroup } from "../../../subjects/quotaGroups/entity.ts"
import * as Catalog from "../../providers/Catalog.ts"
import type { StoreError } from "../../../store/Errors.ts"
import type { QuotaUseRepo } from "../../../subjects/quotaGroups/QuotaUseRepo.ts"
import type { Resolution, Target } from "../resolve/ModelResolver.ts"
import { allocationOf, type Claim, closedUntilMs, notAllocated, type Pool, standing, weightsOf } from "./Allocations.ts"
import { type DrawLedger, makeDrawLedger } from "./DrawLedger.ts"
import { drawn, knownQuotas, ownUse } from "./Draws.ts"
import type { QuotaView } from "./QuotaState.ts"
import { Replica } from "../../state/Replica.ts"
import * as QuotaWindows from "./QuotaWindows.ts"
import type { Refusal, Refusals } from "./Refusal.ts"
import { type Accounts, type Drawing, drawingsOf, type SharedQuota, sharedQuotas } from "./SharedQuotas.ts"

/** A key's use of its share of one window of the members at one provider, in the window's unit. */
export interface ShareUsage {
  readonly apiKeyId: string
  readonly provider: string
  readonly window: QuotaView["window"]
  readonly unit: QuotaView["unit"]
  readonly used: number
  readonly limit: number
  /** The first reset of a member, epoch milliseconds; null when it is not known. */
  readonly resetAtMs: number | null
}

/** Resolution of a request: a quota share, or a combo that may name some. */
export type ShareRequest = Pick<Resolution, "combo" | "quotaGroup" | "targets">

export class QuotaShareUsage extends Context.Tag("gateway/plane/routing/quota/QuotaShareUsage")<
  QuotaShareUsage,
  {
    /** Hot: targets of what a caller asks for that it may not have, and why; empty for everything that draws on no group. */
    readonly refusals: (asked: ShareRequest, apiKeyId: string | null, nowMs: number, model: string) => Refusals
    /** Hot: a request goes out. The returned function says that it is over; null for everything that draws on no group. */
    readonly enter: (asked: ShareRequest, apiKeyId: string | null) => (() => void) | null
    /** Counts a call, after the quotas have counted it. Hot. Calls outside the group count, too, for those that share with it. */
    readonly count: (
      quotaGroup: string | null,
      apiKeyId: string | null,
      connection: QuotaWindows.QuotaConnection,
      used: QuotaWindows.QuotaUsage,
      nowMs: number
    ) => void
    /** Lists the use of every allocation; only windows that are shared. */
    readonly standings: (group: QuotaGroup, nowMs: number) => ReadonlyArray<ShareUsage>
    /** Waits until everything that lasts is in the store. */
    readonly flush: Effect.Effect<void>
  }
>() {}

const none: ReadonlyArray<never> = []

/** The holder under which the use of all keys together is counted. Ids have no blanks. */
const allKeys = ""

const keyOf = (group: QuotaGroup, connectionId: string, holder: string): string =>
  `${group.id} ${connectionId} ${holder}`

/** Makes a key by the name that was asked for: a group may be renamed or removed while a request is in progress. */
const wayOf = (groupName: string, provider: string, holder: string): string => `${groupName} ${provider} ${holder}`

const bump = (counts: Map<string, number>, key: string, by: number): void => {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

/** Words for the text of a refusal. */
const windowWords: Readonly<Record<QuotaView["window"], string>> = {
  hourly: "hourly",
  "5h": "5-hour (5h)",
  daily: "daily",
  weekly: "weekly",
  monthly: "monthly"
}

const noRefusals: Refusals = new Map()

const services = Effect.all({ catalog: Catalog.Catalog, quotas: QuotaWindows.QuotaWindows })
interface Deps extends Effect.Effect.Success<typeof services> {
  snapshot: Catalog.CatalogSnapshot | null
  byMember: ReadonlyMap<string, ReadonlyArray<QuotaGroup>>
  readonly ledger: DrawLedger
  /** Requests in progress, by group, provider and key. */
  readonly underWay: Map<string, number>
}

/** The restricted groups a connection is a member of; worked out once for each snapshot. */
const groupsOf = (deps: Deps, connectionId: string): ReadonlyArray<QuotaGroup> => {
  const current = deps.catalog.current()
  if (current !== deps.snapshot) {
    const found = new Map<string, Array<QuotaGroup>>()
    for (const group of current.quotaGroups.values()) {
      if (!group.restricted) continue
      for (const member of group.members) {
        const others = found.get(member.connectionId)
        if (others === undefined) found.set(member.connectionId, [group])
        else others.push(group)
      }
    }
    deps.byMember = found
    deps.snapshot = current
  }
  return deps.byMember.get(connectionId) ?? none
}

const knownOf = ({ quotas }: Deps, connection: QuotaWindows.QuotaConnection, nowMs: number) =>
  knownQuotas(quotas.views(connection, nowMs))

/** Active members, whether a request was resolved to all of them or not. */
const membersOf = ({ catalog }: Deps, { members }: QuotaGroup): Accounts => {
  const { byConnection } = catalog.current()
  return members.flatMap(({ connectionId }) => byConnection.get(connectionId) ?? [])
}

const sharedAt = (deps: Deps, group: QuotaGroup, provider: string, nowMs: number) =>
  sharedQuotas(
    membersOf(deps, group).filter(({ spec }) => spec.id === provider),
    ({ connection }) => knownOf(deps, connection, nowMs)
  )

const poolOf = (
  { ledger }: Deps,
  group: QuotaGroup,
  shared: ReadonlyArray<SharedQuota>,
  apiKeyId: string,
  nowMs: number
): Pool => {
  const [first] = shared
  return {
    window: first?.view.window ?? "daily",
    unit: first?.view.unit ?? "requests",
    parts: shared.map(({ connectionId, view }) => ({
      limit: view.total,
      used: view.used,
      own: ownUse(
        view,
        ledger.of(keyOf(group, connectionId, apiKeyId)),
        ledger.of(keyOf(group, connectionId, allKeys)),
        nowMs
      ),
      resetAtMs: view.untilMs
    }))
  }
}

const groupNamed = ({ catalog }: Deps, name: string | null): QuotaGroup | null =>
  name === null ? null : (catalog.current().quotaGroups.get(name) ?? null)

const refusalOf = (
  deps: Deps,
  model: string,
  asked: Drawing,
  apiKeyId: string | null,
  nowMs: number
): Refusal | null => {
  const group = groupNamed(deps, asked.quotaGroup)
  if (group === null || !group.restricted) return null
  const barred = notAllocated(model, group, apiKeyId)
  const allocation = allocationOf(group, apiKeyId)
  if (barred !== null || apiKeyId === null || allocation === null) return barred
  const weights = weightsOf(group)
  let [closed, untilMs]: [Pool | null, number] = [null, nowMs]
  for (const shared of sharedAt(deps, group, asked.provider, nowMs)) {
    const pool = poolOf(deps, group, shared, apiKeyId, nowMs)
    const waiting = (holder: string): number =>
      pool.unit === "requests" ? (deps.underWay.get(wayOf(asked.quotaGroup, asked.provider, holder)) ?? 0) : 0
    const claim: Claim = {
      weight: allocation.weight,
      weights,
      ownUnderWay: waiting(apiKeyId),
      allUnderWay: waiting(allKeys)
    }
    const opensMs = closedUntilMs(pool, claim, nowMs)
    if (opensMs !== null && opensMs > untilMs) [closed, untilMs] = [pool, opensMs]
  }
  if (closed === null) return null
  return new QuotaShareUsed({
    model,
    group: group.name,
    window: windowWords[closed.window],
    unit: closed.unit,
    retryAfterMs: untilMs - nowMs
  })
}

const refusals = (deps: Deps, asked: ShareRequest, apiKeyId: string | null, nowMs: number, model: string): Refusals => {
  if (asked.quotaGroup === null && asked.combo === null) return noRefusals
  const shares = drawingsOf(asked.targets)
  if (shares.length === 0) return noRefusals
  const found = new Map<Target, Refusal>()
  for (const drawing of shares) {
    const refusal = refusalOf(deps, model, drawing, apiKeyId, nowMs)
    if (refusal !== null) for (const target of drawing.targets) found.set(target, refusal)
  }
  return found
}

const enter = ({ underWay }: Deps, asked: ShareRequest, apiKeyId: string | null): (() => void) | null => {
  const provider = asked.targets[0]?.account.spec.id
  if (asked.quotaGroup === null || apiKeyId === null || provider === undefined) return null
  const ways = [wayOf(asked.quotaGroup, provider, apiKeyId), wayOf(asked.quotaGroup, provider, allKeys)]
  for (const way of ways) bump(underWay, way, 1)
  return () => {
    for (const way of ways) bump(underWay, way, -1)
  }
}

/** Key that has used a connection, and the group it drew on. */
interface Spender {
  readonly quotaGroup: string | null
  readonly apiKeyId: string | null
}

const count = (
  deps: Deps,
  { apiKeyId, quotaGroup }: Spender,
  connection: QuotaWindows.QuotaConnection,
  used: QuotaWindows.QuotaUsage,
  nowMs: number
): void => {
  const { ledger } = deps
  const groups = groupsOf(deps, connection.id)
  if (groups.length === 0) return
  const known = knownOf(deps, connection, nowMs)
  if (known.size === 0) return
  const add = (key: string): void => ledger.put(key, drawn(ledger.of(key), known, used, nowMs))
  for (const group of groups) {
    add(keyOf(group, connection.id, allKeys))
    if (group.name === quotaGroup && apiKeyId !== null) add(keyOf(group, connection.id, apiKeyId))
  }
}

const standingsAt = (deps: Deps, group: QuotaGroup, provider: string, nowMs: number) => {
  const weights = weightsOf(group)
  return sharedAt(deps, group, provider, nowMs).flatMap((shared) =>
    group.allocations.map(({ apiKeyId, weight }): ShareUsage => {
      const pool = poolOf(deps, group, shared, apiKeyId, nowMs)
      const resetAtMs = Math.min(...shared.map(({ view }) => view.resetAtMs ?? Number.POSITIVE_INFINITY))
      return {
        apiKeyId,
        provider,
        window: pool.window,
        unit: pool.unit,
        ...standing(pool, { weight, weights }),
        resetAtMs: Number.isFinite(resetAtMs) ? resetAtMs : null
      }
    })
  )
}

const standings = (deps: Deps, group: QuotaGroup, nowMs: number): ReadonlyArray<ShareUsage> =>
  [...new Set(membersOf(deps, group).map(({ spec }) => spec.id))].flatMap((provider) =>
    standingsAt(deps, group, provider, nowMs)
  )

export const make = Effect.gen(function* () {
  const all = yield* services
  const ledger = yield* makeDrawLedger
  const deps: Deps = { ...all, snapshot: null, byMember: new Map(), ledger, underWay: new Map() }
  const { shared } = yield* Replica
  const counted = shared(
    "share.count",
    (spender: Spender, { id, quotas }: QuotaWindows.QuotaConnection, used: QuotaWindows.QuotaUsage, nowMs: number) =>
      count(deps, spender, { id, quotas }, used, nowMs)
  )

  return QuotaShareUsage.of({
    refusals: (asked, apiKeyId, nowMs, model) => refusals(deps, asked, apiKeyId, nowMs, model),
    enter: (asked, apiKeyId) => enter(deps, asked, apiKeyId),
    count: (quotaGroup, apiKeyId, { id, quotas }, used, nowMs) => {
      if (groupsOf(deps, id).length > 0) counted({ quotaGroup, apiKeyId }, { id, quotas }, used, nowMs)
    },
    standings: (group, nowMs) => standings(deps, group, nowMs),
    flush: ledger.flush
  })
})

export const layer: Layer.Layer<QuotaShareUsage, StoreError, Effect.Effect.Context<typeof services> | QuotaUseRepo> =
  Layer.scoped(QuotaShareUsage, make)
