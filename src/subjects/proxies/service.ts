/** Egress proxies and what they are assigned to. A change holds from the next call on. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import type { AssignProxy, ChangeProxySwitch, CreateProxy, TestProxy, UpdateProxy } from "./routes.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import type { Proxy, ProxyAssignment, ProxyFamily } from "./entity.ts"
import { noSecrets } from "../../kernel/secrets/SentSecrets.ts"
import { blockMessage, judgeUrl, providerPolicy } from "../../net/egress/OutboundPolicy.ts"
import { addressIn, familyOf } from "../../net/egress/proxy/EgressAddress.ts"
import type { ProxyCondition } from "../../net/egress/proxy/ProxyHealth.ts"
import { routeOfProxy } from "../../net/egress/proxy/ProxyRoute.ts"
import { type RequestError, type UnownedRequest, Upstream } from "../../net/egress/Upstream.ts"
import { Flags } from "../flags/service.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { FreeProxies } from "../../plane/providers/FreeProxies.ts"
import { ProxyPlan } from "../../plane/providers/ProxyPlan.ts"
import type { StoreError } from "../../store/Errors.ts"
import { ProxyRepo } from "./repo.ts"
import * as Errors from "../Errors.ts"
import * as Rules from "./rules.ts"

export interface ProxyReport {
  readonly proxy: Proxy
  readonly isUsable: boolean
  /** Null: it was not used since the gateway started. */
  readonly condition: ProxyCondition | null
}

export interface NamedAssignment extends ProxyAssignment {
  /** Null: the proxy was removed. */
  readonly proxyName: string | null
}

export interface ProxySwitchState {
  readonly enabled: boolean
  readonly proxyId: string | null
}

export interface ProxyTestResult {
  readonly ok: boolean
  readonly latencyMs: number
  readonly egressIp: string | null
  readonly family: ProxyFamily
  readonly error: string | null
}

export interface FreeProxiesFound {
  readonly listed: number
  readonly tested: number
  readonly proxies: ReadonlyArray<ProxyReport>
}

type Refused = Errors.InvalidInput | Errors.StateConflict | StoreError
type Missing = Errors.EntityNotFound | StoreError

export class Proxies extends Context.Tag("gateway/subjects/proxies/Proxies")<
  Proxies,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ProxyReport>>
    readonly create: (input: CreateProxy) => Effect.Effect<ProxyReport, Refused | Errors.StateConflict>
    readonly update: (input: UpdateProxy) => Effect.Effect<ProxyReport, Refused | Errors.EntityNotFound>
    readonly remove: (id: string) => Effect.Effect<void, Missing>
    readonly assignments: Effect.Effect<ReadonlyArray<NamedAssignment>, StoreError>
    /** Null: the scope has no proxy of its own any more. */
    readonly assign: (input: AssignProxy) => Effect.Effect<NamedAssignment | null, Missing | Errors.InvalidInput>
    readonly settings: Effect.Effect<ProxySwitchState, StoreError>
    readonly setSettings: (input: ChangeProxySwitch) => Effect.Effect<ProxySwitchState, Missing>
    readonly test: (input: TestProxy) => Effect.Effect<ProxyTestResult, Missing | Errors.InvalidInput>
    readonly findFree: Effect.Effect<FreeProxiesFound, Errors.StateConflict | Errors.RemoteFailed | StoreError>
  }
>() {}

/** The contract promises a thousand connections; each may have a proxy of its own. */
export const maxProxies = 1_000

const testLimits = { timeoutMs: 15_000, maxBytes: 65_536 }

const failureText = (error: RequestError): string => {
  switch (error._tag) {
    case "TransportFailure":
      return error.kind === "proxy"
        ? "The proxy cannot be reached, refuses the user name and password, or does not open the way to the address."
        : error.message
    case "TimedOut":
      return `No answer within ${error.timeoutMs / 1_000} s.`
    case "ResponseTooLarge":
      return "The answer is too large."
  }
}

const services = Effect.all({
  catalog: Catalog,
  flags: Flags,
  free: FreeProxies,
  gateway: GatewaySettings,
  ids: IdGen,
  keys: ApiKeys,
  plan: ProxyPlan,
  repo: ProxyRepo,
  upstream: Upstream
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly oneAtATime: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Runs a change without another one beside it. */
const alone = <A, E, R>(change: Effect.Effect<A, E, R>, { oneAtATime }: Deps) => oneAtATime(change)

const policy = ({ flags }: Deps) => providerPolicy(flags.isOn)

const isUsable = ({ flags, plan }: Deps, { isActive, isReadable, source, type }: Proxy): boolean =>
  isActive &&
  isReadable &&
  (type !== "socks5" || plan.isSocksOn) &&
  (source !== "free" || flags.isOn("FREE_PROXY_ENABLED"))

const reported = (deps: Deps, proxy: Proxy): ProxyReport => ({
  proxy,
  isUsable: isUsable(deps, proxy),
  condition: deps.plan.health.of(proxy.id)
})

const nameOf = ({ plan }: Deps, id: string): string | null =>
  plan.proxies().find((proxy) => proxy.id === id)?.name ?? null

const find = Effect.fnUntraced(function* ({ repo }: Deps, id: string, field = "id") {
  return (yield* repo.get(id)) ?? (yield* new Errors.EntityNotFound({ entity: "proxy", id, field }))
})

const nameTaken = (name: string) => () => Errors.nameTaken("a proxy", name)

const create = Effect.fn("Proxies.create")(function* (deps: Deps, input: CreateProxy) {
  const nowMs = yield* Clock.currentTimeMillis
  const proxy = Rules.proxyOf(input, { id: deps.ids.next(nowMs), nowMs })
  yield* Errors.refuseOne(Rules.proxyProblem(proxy, policy(deps), deps.plan.isSocksOn))
  if (deps.plan.proxies().length >= maxProxies) return yield* Errors.tooMany(maxProxies, "proxies")
  yield* Effect.catchTag(deps.repo.insert(proxy), "AlreadyStored", nameTaken(proxy.name))
  yield* deps.plan.reload
  return reported(deps, proxy)
}, alone)

/** A stored proxy as it would be after a change. */
const changedBy = Effect.fnUntraced(function* (deps: Deps, given: UpdateProxy, field = "id") {
  const before = yield* find(deps, given.id, field)
  const input = Rules.withoutMasked(before, given)
  // Two changes within a millisecond are two states.
  const updatedAtMs = Math.max(yield* Clock.currentTimeMillis, before.updatedAtMs + 1)
  const after = Rules.changedProxy(before, input, updatedAtMs)
  yield* Errors.refuseOne(Rules.proxyProblem(after, policy(deps), deps.plan.isSocksOn))
  yield* Errors.refuseOne(Rules.moveProblem(before, after, input))
  return after
})

const update = Effect.fn("Proxies.update")(function* (deps: Deps, given: UpdateProxy) {
  const after = yield* changedBy(deps, given)
  yield* Effect.catchTag(deps.repo.update(after), "AlreadyStored", nameTaken(after.name))
  deps.plan.health.forget(after.id)
  yield* deps.plan.reload
  return reported(deps, after)
}, alone)

const remove = Effect.fn("Proxies.remove")(function* ({ plan, repo }: Deps, id: string) {
  if (!(yield* repo.remove(id))) return yield* new Errors.EntityNotFound({ entity: "proxy", id })
  plan.health.forget(id)
  yield* plan.reload
}, alone)

const checkScope = ({ catalog, keys }: Deps, { proxyId, scope, scopeId }: AssignProxy) => {
  if (scope === "global") {
    return scopeId === undefined ? Effect.void : Errors.invalid("scopeId", "must be absent or null for 'global'")
  }
  if (scopeId === undefined) return Errors.invalid("scopeId", `is needed for '${scope}'`)
  // A removed one can still be unassigned.
  if (proxyId === null) return Effect.void
  const { connections, provider } = catalog.current()
  switch (scope) {
    case "key":
      return keys.get(scopeId) === null
        ? new Errors.EntityNotFound({ entity: "API key", id: scopeId, field: "scopeId" })
        : Effect.void
    case "connection":
      // Also one that is off: its first call after that goes by it.
      return connections.some(({ id }) => id === scopeId)
        ? Effect.void
        : new Errors.EntityNotFound({ entity: "connection", id: scopeId, field: "scopeId" })
    case "provider":
      return provider(scopeId) === null ? Errors.unknownProvider(scopeId) : Effect.void
  }
}

const assign = Effect.fn("Proxies.assign")(function* (deps: Deps, input: AssignProxy) {
  const { proxyId, scope, scopeId = null } = input
  yield* checkScope(deps, input)
  if (proxyId !== null) yield* find(deps, proxyId, "proxyId")
  yield* deps.plan.assign(scope, scopeId, proxyId)
  return proxyId === null ? null : { scope, scopeId, proxyId, proxyName: nameOf(deps, proxyId) }
}, alone)

const globalId = ({ repo }: Deps) =>
  Effect.map(repo.assignments, (all) => all.find(({ scope }) => scope === "global")?.proxyId ?? null)

const settings = (deps: Deps) =>
  Effect.map(globalId(deps), (proxyId) => ({ enabled: deps.gateway.current().proxies.enabled, proxyId }))

const setSettings = Effect.fn("Proxies.setSettings")(function* (deps: Deps, { enabled, proxyId }: ChangeProxySwitch) {
  if (proxyId !== undefined) {
    if (proxyId !== null) yield* find(deps, proxyId, "proxyId")
    yield* deps.plan.assign("global", null, proxyId)
  }
  if (enabled !== undefined) yield* deps.gateway.patch({ proxies: { enabled } })
  return yield* settings(deps)
}, alone)

const tested = Effect.fnUntraced(function* (deps: Deps, { proxy, proxyId }: TestProxy) {
  if ((proxy === undefined) === (proxyId === undefined)) {
    return yield* Errors.invalid("proxyId", "either 'proxyId' or 'proxy' is needed, not both")
  }
  if (proxyId !== undefined) return yield* find(deps, proxyId, "proxyId")
  if (proxy === undefined) return yield* Errors.invalid("proxy", "is missing")
  if (proxy.id !== undefined) return yield* changedBy(deps, { ...proxy, id: proxy.id }, "proxy.id")
  const { host, name = "test", port, type } = proxy
  if (type === undefined) return yield* Errors.invalid("proxy.type", "is needed")
  if (host === undefined) return yield* Errors.invalid("proxy.host", "is needed")
  if (port === undefined) return yield* Errors.invalid("proxy.port", "is needed")
  const given = Rules.proxyOf({ ...proxy, name, type, host, port }, { id: "test", nowMs: 0 })
  yield* Errors.refuseOne(Rules.proxyProblem(given, policy(deps), deps.plan.isSocksOn))
  return given
})

const test = Effect.fn("Proxies.test")(function* (deps: Deps, input: TestProxy) {
  const proxy = yield* tested(deps, input)
  const verdict = judgeUrl(input.url ?? deps.gateway.current().proxies.testUrl, policy(deps))
  if (verdict._tag === "Blocked") return yield* Errors.invalid("url", blockMessage[verdict.reason])
  const { origin, pathname, search } = verdict.url
  const asked: UnownedRequest = {
    origin,
    path: pathname + search,
    method: "GET",
    headers: ["accept", "*/*"],
    body: null,
    secrets: noSecrets
  }
  const startedMs = yield* Clock.currentTimeMillis
  const answer = yield* Effect.either(
    deps.upstream.requestVia(routeOfProxy(proxy, deps.plan.isSocksOn), asked, testLimits)
  )
  const latencyMs = (yield* Clock.currentTimeMillis) - startedMs
  if (answer._tag === "Left") {
    const { left } = answer
    return { ok: false, latencyMs, egressIp: null, family: proxy.family, error: failureText(left) }
  }
  const egressIp = addressIn(answer.right.body)
  const family = familyOf(egressIp) ?? proxy.family
  return { ok: true, latencyMs, egressIp, family, error: null }
})

const freeProxiesOff = (message: string) => new Errors.StateConflict({ code: "free_proxies_off", message })

const findFree = (deps: Deps) =>
  Effect.gen(function* () {
    if (!deps.flags.isOn("FREE_PROXY_ENABLED"))
      return yield* freeProxiesOff("Free proxies are off: the flag FREE_PROXY_ENABLED is false.")
    const { freeSources, testUrl } = deps.gateway.current().proxies
    if (freeSources.length === 0) {
      return yield* freeProxiesOff(
        "No list of free proxies is named. Name some in proxies.freeSources (PATCH /api/settings)."
      )
    }
    const known = new Set(deps.plan.proxies().map(({ host, port }) => `${host}:${port}`))
    const room = maxProxies - deps.plan.proxies().length
    const found = yield* deps.free.search({ sources: freeSources, testUrl, known, room })
    if (found.listed === 0 && found.problem !== null) {
      return yield* new Errors.RemoteFailed({
        code: "free_proxies_not_listed",
        message: `No list of free proxies could be read. ${found.problem}`
      })
    }
    yield* Effect.forEach(found.working, (proxy) =>
      Effect.catchTag(deps.repo.insert(proxy), "AlreadyStored", () => Effect.void)
    )
    yield* deps.plan.reload
    return { listed: found.listed, tested: found.tested, proxies: found.working.map((proxy) => reported(deps, proxy)) }
  }).pipe(deps.oneAtATime, Effect.withSpan("Proxies.findFree"))

export const make = Effect.gen(function* () {
  const all = yield* services
  // A change is read, checked and written without another one in between.
  const oneAtATime = makeLane(1).inTurn
  const deps: Deps = { ...all, oneAtATime }

  return Proxies.of({
    list: Effect.sync(() => all.plan.proxies().map((proxy) => reported(deps, proxy))),
    create: (proxy) => create(deps, proxy),
    update: (given) => update(deps, given),
    remove: (id) => remove(deps, id),
    assignments: Effect.withSpan(
      Effect.map(all.repo.assignments, (all) =>
        all.map((each) => ({ ...each, proxyName: nameOf(deps, each.proxyId) }))
      ),
      "Proxies.assignments"
    ),
    assign: (assignment) => assign(deps, assignment),
    settings: Effect.withSpan(settings(deps), "Proxies.settings"),
    setSettings: (given) => setSettings(deps, given),
    test: (given) => test(deps, given),
    findFree: findFree(deps)
  })
})

export const layer: Layer.Layer<
  Proxies,
  never,
  ApiKeys | Catalog | Flags | FreeProxies | GatewaySettings | IdGen | ProxyPlan | ProxyRepo | Upstream
> = Layer.effect(Proxies, make)
