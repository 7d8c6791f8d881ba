/**
 * Signing in at a provider: in a browser (PKCE), by a code for another device, or with tokens from elsewhere. What is pending is in memory,
 * for ten minutes, bound to who began it, and used once. The tokens become a connection.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import * as LoginThrottle from "../auth/LoginThrottle.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { ownerAt } from "../proxies/entity.ts"
import type { OAuthInput } from "../connections/routes.ts"
import { Upstream, type UnownedRequest } from "../../net/egress/Upstream.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { IdGen } from "../../platform/IdGen.ts"
import * as Requests from "../../plane/providers/oauth/SignInRequests.ts"
import { readAnswer } from "../../plane/providers/oauth/TokenAnswer.ts"
import { limits } from "../../plane/providers/oauth/TokenCall.ts"
import { ProxyPlan } from "../../plane/providers/ProxyPlan.ts"
import { find } from "../../plane/providers/Registry.ts"
import { type SignInRow, SignInTable, whereClientIs } from "../../plane/providers/registry/signIn.ts"
import type { StoreError } from "../../store/Errors.ts"
import { Connections } from "../connections/service.ts"
import * as Errors from "../Errors.ts"
import type { ObservedConnection } from "../connections/ObservedState.ts"

export interface BeginSignIn {
  /** Caller that begins it; only the same one may go on. */
  readonly caller: string
  readonly clientId?: string | undefined
  readonly clientSecret?: Redacted.Redacted | undefined
  /** Name of the connection. */
  readonly name?: string | undefined
  /** The proxy of the connection, by which it is signed in too. */
  readonly proxyId?: string | undefined
  /** The connection that is signed in again; absent: a new one is made. */
  readonly connectionId?: string | undefined
}

export interface PendingBrowser {
  readonly sessionId: string
  readonly authUrl: string
  readonly state: string
  readonly redirectUri: string
  /** True when the browser comes back to the gateway with the code: nothing is pasted, `poll` returns the end. */
  readonly comesBack: boolean
  readonly expiresAtMs: number
}

/** Parameters that a browser brings back from a provider. */
export interface Arrival {
  /** Peer address of the socket. */
  readonly address: string
  readonly state: string
  readonly code: string
  /** The provider's refusal (RFC 6749 §4.1.2.1); empty: none. */
  readonly error: string
}

/** Caller that began a sign-in, and the connection it has made. */
export interface Arrived {
  readonly caller: string
  readonly connection: ObservedConnection
}

export interface PendingDevice extends Omit<Requests.DeviceCode, "deviceCode" | "lifetimeMs"> {
  readonly sessionId: string
  readonly expiresAtMs: number
}

export interface Exchange {
  readonly caller: string
  /** Either names the sign-in. */
  readonly sessionId?: string | undefined
  readonly state?: string | undefined
  /** The code, `code#state`, or the whole address of the page. */
  readonly code: string
}

export interface ImportTokens {
  readonly tokens: Omit<OAuthInput, "tokenUrl">
  readonly name?: string | undefined
  readonly proxyId?: string | undefined
  readonly connectionId?: string | undefined
}

export type Polled =
  | { readonly _tag: "Pending"; readonly retryAfterMs: number; readonly expiresAtMs: number }
  | { readonly _tag: "Connected"; readonly connection: ObservedConnection }

type Created =
  | Errors.EntityNotFound
  | Errors.ReadOnly
  | Errors.InvalidInput
  | Errors.StateConflict
  | Errors.RemoteFailed
  | StoreError

/** Error of too many browsers that came with states that belong to no sign-in. */
export class TooManyArrivals extends Data.TaggedError("TooManyArrivals")<{ readonly retryAfterMs: number }> {}

export class SignIns extends Context.Tag("gateway/subjects/oauth/SignIns")<
  SignIns,
  {
    readonly authorize: (
      provider: string,
      begin: BeginSignIn
    ) => Effect.Effect<PendingBrowser, Errors.EntityNotFound | Errors.InvalidInput | Errors.StateConflict>
    readonly device: (
      provider: string,
      begin: BeginSignIn
    ) => Effect.Effect<
      PendingDevice,
      Errors.EntityNotFound | Errors.InvalidInput | Errors.StateConflict | Errors.RemoteFailed
    >
    readonly exchange: (provider: string, exchange: Exchange) => Effect.Effect<ObservedConnection, Created>
    /** Ends the sign-in that a browser comes back from; the state alone says which. Used once, whatever comes of it. */
    readonly arrive: (provider: string, arrival: Arrival) => Effect.Effect<Arrived, Created | TooManyArrivals>
    /** Asks the provider once, and not before its interval is over. */
    readonly poll: (provider: string, sessionId: string, caller: string) => Effect.Effect<Polled, Created>
    readonly importTokens: (provider: string, input: ImportTokens) => Effect.Effect<ObservedConnection, Created>
    /** False when there was none. */
    readonly cancel: (sessionId: string, caller: string) => Effect.Effect<boolean>
  }
>() {}

/** Most pending sign-ins of all callers together. */
export const maxPending = 64
export const lifetimeMs = 10 * 60_000

interface Pending {
  readonly sessionId: string
  readonly provider: string
  readonly row: SignInRow
  readonly client: Requests.SignInClient
  readonly caller: string
  readonly name: string | undefined
  readonly proxyId: string | undefined
  readonly connectionId: string | undefined
  readonly expiresAtMs: number
  readonly browser: (Requests.BrowserStep & { readonly comesBack: boolean }) | null
  readonly device: { readonly code: string; readonly intervalMs: number; readonly askAtMs: number } | null
  /** Outcome after a browser has come back; its caller asks for that. */
  readonly outcome: Either.Either<ObservedConnection, Created> | null
}

const secret = (): string => randomBytes(32).toString("base64url")

/** `github-models` → `GATEWAY_OAUTH_GITHUB_MODELS_CLIENT_ID`. */
export const clientVariable = (provider: string, what: "ID" | "SECRET"): string =>
  `GATEWAY_OAUTH_${provider.toUpperCase().replaceAll(/\W/g, "_")}_CLIENT_${what}`

const isCode = (text: string): boolean => /^[\x21-\x7e]{1,4096}$/.test(text)

/** A provider's code of an error; anything else was not written by one. */
const errorCode = (text: string): string => (/^[\w.-]{1,64}$/.test(text) ? text : "an error")

/**
 * Builds the address that the browser comes back to. One address for each provider, so that the code of one is never
 * taken for another's (RFC 9700 §4.4).
 */
export const callbackAt = (signInUrl: string, provider: string): string =>
  `${signInUrl}/api/oauth/${encodeURIComponent(provider)}/callback`

/** Returns where browsers come back to: the variable of its own, else the gateway's public address. */
const comesBackTo = ({ config: { publicUrl, signInUrl }, settings }: Deps): string | null =>
  signInUrl === publicUrl ? (settings.publicUrl() ?? signInUrl) : signInUrl

/** RFC 8628 §3.5. */
const slowDownMs = 5_000

const services = Effect.all({
  config: AppConfig,
  settings: GatewaySettings,
  upstream: Upstream,
  connections: Connections,
  proxies: ProxyPlan,
  table: SignInTable,
  ids: IdGen
})
/** The provider did not give tokens. `reason` holds no secret. */
export const signInFailed = (reason: string): Errors.RemoteFailed =>
  new Errors.RemoteFailed({
    code: "sign_in_failed",
    message: `The sign-in failed: ${asSentence(reason)} Begin it again.`
  })

interface State {
  throttle: LoginThrottle.ThrottleState
}
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly pending: Map<string, Pending>
  readonly state: State
}

const rowOf = Effect.fnUntraced(function* ({ table }: Deps, name: string) {
  const spec = find(name)
  if (spec === null) return yield* Errors.unknownProvider(name)
  const row = table.get(spec.id)
  if (row === undefined) {
    return yield* Errors.invalid("provider", `'${spec.id}' has no sign-in here; add it with its key`)
  }
  return { provider: spec.id, row }
})

const clientOf = Effect.fnUntraced(function* (
  { config: { environment } }: Deps,
  provider: string,
  { clientId, clientSecret }: BeginSignIn
) {
  const id = clientId ?? environment.get(clientVariable(provider, "ID"))
  if (id === undefined || id === "") {
    return yield* Errors.invalid(
      "clientId",
      `is needed: the id of an OAuth client at ${provider} that may act for you, here or in ${clientVariable(provider, "ID")}. ${whereClientIs(provider)}`.trim()
    )
  }
  const fromEnvironment = environment.get(clientVariable(provider, "SECRET"))
  const ofVariable =
    clientId !== undefined || fromEnvironment === undefined || fromEnvironment === ""
      ? null
      : Redacted.make(fromEnvironment)
  return { id, secret: clientSecret ?? ofVariable }
})

const forgetOld = ({ pending }: Deps, nowMs: number): void => {
  for (const [id, one] of pending) if (one.expiresAtMs <= nowMs) pending.delete(id)
}

const ensureCapacity = (deps: Deps) =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    forgetOld(deps, nowMs)
    // An ended sign-in waits only to be asked for, and is removed first.
    const over =
      deps.pending.size < maxPending ? undefined : Array.from(deps.pending.values()).find((one) => one.outcome !== null)
    if (over !== undefined) deps.pending.delete(over.sessionId)
    return deps.pending.size < maxPending
      ? Effect.succeed(nowMs)
      : new Errors.StateConflict({
          code: "too_many_sign_ins",
          message: "Too many sign-ins are pending; finish or cancel one, or wait ten minutes."
        })
  })

const checkProxy = ({ proxies }: Deps, id: string | undefined) =>
  id === undefined || proxies.has(id)
    ? Effect.void
    : new Errors.EntityNotFound({ entity: "proxy", id, field: "proxyId" })

const ask = ({ upstream }: Deps, provider: string, proxyId: string | undefined, request: UnownedRequest) =>
  Effect.mapError(upstream.controlRequest({ ...request, owner: ownerAt(provider, proxyId ?? null) }, limits), (error) =>
    signInFailed(error._tag === "TimedOut" ? "the provider did not answer in time" : error.message)
  )

/** Purpose of a sign-in: the connection that it makes, or signs in again. */
type Purpose = Pick<BeginSignIn, "name" | "proxyId" | "connectionId">

const connect = (
  { connections }: Deps,
  provider: string,
  { connectionId, name, proxyId }: Purpose,
  oauth: OAuthInput
): Effect.Effect<ObservedConnection, Created> => {
  const settings = {
    provider,
    authType: "oauth",
    oauth,
    ...(name === undefined ? {} : { name }),
    ...(proxyId === undefined ? {} : { proxyId })
  } as const
  return connectionId === undefined ? connections.create(settings) : connections.update(connectionId, settings)
}

/** Checks before a person signs in what would be refused afterwards. */
const checkAccount = ({ connections }: Deps, provider: string, id: string | undefined) =>
  id === undefined
    ? Effect.void
    : Effect.flatMap(connections.get(id), ({ connection }) =>
        connection.provider === provider
          ? Effect.void
          : Errors.invalid("connectionId", `is an account at '${connection.provider}', not at '${provider}'`)
      )

/** Finds the caller's own sign-in. A caller who did not begin it gets the same answer as for an unknown id. */
const mine = (found: Pending | undefined, provider: string, caller: string, id: string) =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    found === undefined || found.caller !== caller || found.provider !== provider || found.expiresAtMs <= nowMs
      ? new Errors.EntityNotFound({ entity: "sign-in", id: id.slice(0, 100), field: "sessionId" })
      : Effect.succeed(found)
  )

const connected = Effect.fnUntraced(function* (
  deps: Deps,
  { client, connectionId, name, provider, proxyId }: Pending,
  response: Parameters<typeof readAnswer>[0],
  secrets: ReadonlyArray<string>
) {
  const kept = client.secret === null ? secrets : [...secrets, Redacted.value(client.secret)]
  const answer = readAnswer(response, kept)
  if (answer._tag !== "Renewed") {
    const words = "words" in answer && answer.words !== "" ? answer.words : `status ${response.status}`
    return yield* signInFailed(`the provider answered: ${words}`)
  }
  const nowMs = yield* Clock.currentTimeMillis
  return yield* connect(
    deps,
    provider,
    { name, proxyId, connectionId },
    {
      accessToken: answer.accessToken,
      clientId: client.id,
      ...(answer.refreshToken === null ? {} : { refreshToken: answer.refreshToken }),
      ...(answer.lifetimeMs === null ? {} : { expiresAt: new Date(nowMs + answer.lifetimeMs).toISOString() }),
      ...(client.secret === null ? {} : { clientSecret: client.secret })
    }
  )
})

const keep = (
  { pending }: Deps,
  one: Omit<Pending, "caller" | keyof Purpose | "outcome">,
  { caller, connectionId, name, proxyId }: BeginSignIn
): void => {
  pending.set(one.sessionId, { ...one, caller, name, proxyId, connectionId, outcome: null })
}

const ofState = ({ pending }: Deps, state: string): Pending | undefined =>
  Array.from(pending.values()).find((one) => one.browser?.state === state)

/** Exchanges a code. The state must be used up before. */
const exchanged = Effect.fnUntraced(function* (
  deps: Deps,
  found: Pending,
  browser: Requests.BrowserStep,
  code: string
) {
  const request = Requests.exchangeRequest(found.row, found.client, { ...browser, code })
  const response = yield* ask(deps, found.provider, found.proxyId, request)
  return yield* connected(deps, found, response, [code, browser.state, browser.verifier])
})

const authorize = Effect.fn("SignIns.authorize")(function* (deps: Deps, name: string, begin: BeginSignIn) {
  const { provider, row } = yield* rowOf(deps, name)
  if (row.authorize === null) {
    return yield* Errors.invalid("action", `'authorize' is not for '${provider}'; use 'device-code'`)
  }
  const client = yield* clientOf(deps, provider, begin)
  yield* checkProxy(deps, begin.proxyId)
  yield* checkAccount(deps, provider, begin.connectionId)
  const nowMs = yield* ensureCapacity(deps)
  const [state, verifier] = [secret(), secret()]
  const sessionId = deps.ids.next(nowMs)
  const expiresAtMs = nowMs + lifetimeMs
  const signInUrl = comesBackTo(deps)
  const comesBack = signInUrl !== null
  const redirectUri = comesBack ? callbackAt(signInUrl, provider) : row.authorize.redirectUri
  const browser = { state, verifier, redirectUri, comesBack }
  keep(deps, { sessionId, provider, row, client, expiresAtMs, browser, device: null }, begin)
  const authUrl = Requests.authorizeUrl({ ...row, authorize: row.authorize }, client, browser)
  return { sessionId, authUrl, state, redirectUri, comesBack, expiresAtMs }
})

const device = Effect.fn("SignIns.device")(function* (deps: Deps, name: string, begin: BeginSignIn) {
  const { provider, row } = yield* rowOf(deps, name)
  if (row.deviceUrl === null) {
    return yield* Errors.invalid("action", `'device-code' is not for '${provider}'; use 'authorize'`)
  }
  const client = yield* clientOf(deps, provider, begin)
  yield* checkProxy(deps, begin.proxyId)
  yield* checkAccount(deps, provider, begin.connectionId)
  yield* ensureCapacity(deps)
  const response = yield* ask(deps, provider, begin.proxyId, Requests.deviceRequest(row.deviceUrl, row, client))
  const given = response.status >= 200 && response.status < 300 ? Requests.readDeviceCode(response.body) : null
  if (given === null) {
    return yield* signInFailed(`the provider gave no device code (status ${response.status})`)
  }
  const nowMs = yield* ensureCapacity(deps)
  const { deviceCode, intervalMs, lifetimeMs: givenMs, ...shown } = given
  const sessionId = deps.ids.next(nowMs)
  const expiresAtMs = nowMs + Math.min(givenMs, lifetimeMs)
  const waiting = { code: deviceCode, intervalMs, askAtMs: nowMs + intervalMs }
  keep(deps, { sessionId, provider, row, client, expiresAtMs, browser: null, device: waiting }, begin)
  return { sessionId, ...shown, intervalMs, expiresAtMs }
})

const exchange = Effect.fn("SignIns.exchange")(function* (deps: Deps, name: string, given: Exchange) {
  const { provider } = yield* rowOf(deps, name)
  const pasted = Requests.readPasted(given.code)
  const state = pasted.state ?? given.state
  if (state === undefined) {
    return yield* Errors.invalid("code", "has no state: paste the whole address of the page, or code#state")
  }
  const named = given.sessionId === undefined ? ofState(deps, state) : deps.pending.get(given.sessionId)
  const found = yield* mine(named, provider, given.caller, given.sessionId ?? "")
  if (found.browser === null || found.browser.state !== state) {
    return yield* Errors.invalid("state", "is not that of this sign-in; begin again")
  }
  if (!isCode(pasted.code)) return yield* Errors.invalid("code", "is none: copy it again, in one piece")
  // From here on it is used, whatever the provider answers.
  deps.pending.delete(found.sessionId)
  return yield* exchanged(deps, found, found.browser, pasted.code)
})

/** The same for every state that is not to be had: made up, over, used, of another provider, or of a sign-in whose code is pasted. */
const awaited = Effect.fnUntraced(function* (deps: Deps, provider: string, { address, state }: Arrival) {
  const nowMs = yield* Clock.currentTimeMillis
  const found = ofState(deps, state)
  if (found?.browser?.comesBack === true && found.provider === provider && found.expiresAtMs > nowMs) {
    return { found, browser: found.browser }
  }
  // Only a client with an unknown state is slowed down, so that it cannot keep others from coming back.
  const taken = LoginThrottle.take(deps.state.throttle, address, nowMs)
  if (taken.retryAfterMs > 0) return yield* new TooManyArrivals({ retryAfterMs: taken.retryAfterMs })
  deps.state.throttle = taken.state
  return yield* new Errors.EntityNotFound({ entity: "sign-in", id: "", field: "state" })
})

const arrive = Effect.fn("SignIns.arrive")(function* (deps: Deps, name: string, arrival: Arrival) {
  const { found, browser } = yield* awaited(deps, name, arrival)
  // Used from here on, whatever comes of it.
  deps.pending.set(found.sessionId, { ...found, browser: null })
  const done =
    arrival.error !== ""
      ? signInFailed(`the provider answered: ${errorCode(arrival.error)}`)
      : isCode(arrival.code)
        ? exchanged(deps, found, browser, arrival.code)
        : Errors.invalid("code", "is none: begin the sign-in again")
  const told = Effect.tap(Effect.either(done), (outcome) =>
    Effect.sync(() => {
      if (deps.pending.has(found.sessionId)) deps.pending.set(found.sessionId, { ...found, browser: null, outcome })
    })
  )
  // A browser that is closed early does not lose what the provider gives once.
  const outcome = yield* Effect.flatMap(Effect.forkDaemon(told), Fiber.join)
  return { caller: found.caller, connection: yield* outcome }
})

const poll = Effect.fn("SignIns.poll")(function* (deps: Deps, name: string, sessionId: string, caller: string) {
  const { provider } = yield* rowOf(deps, name)
  const found = yield* mine(deps.pending.get(sessionId), provider, caller, sessionId)
  const nowMs = yield* Clock.currentTimeMillis
  const { device, expiresAtMs, outcome } = found
  if (outcome !== null) return { _tag: "Connected", connection: yield* outcome } as const
  const wait = (retryAfterMs: number): Polled => ({ _tag: "Pending", retryAfterMs, expiresAtMs })
  if (device === null) return wait(1_000)
  if (nowMs < device.askAtMs) return wait(device.askAtMs - nowMs)
  // Before the question, so that two polls at once are one.
  const next = (intervalMs: number) =>
    deps.pending.set(sessionId, { ...found, device: { ...device, intervalMs, askAtMs: nowMs + intervalMs } })
  next(device.intervalMs)
  const response = yield* ask(
    deps,
    provider,
    found.proxyId,
    Requests.deviceTokenRequest(found.row, found.client, device.code)
  )
  const waiting = Requests.waitingOf(response.body)
  if (waiting !== null) {
    const intervalMs = device.intervalMs + (waiting === "slow_down" ? slowDownMs : 0)
    if (deps.pending.has(sessionId)) next(intervalMs)
    return wait(intervalMs)
  }
  deps.pending.delete(sessionId)
  const connection = yield* connected(deps, found, response, [device.code])
  return { _tag: "Connected", connection } as const
})

const importTokens = Effect.fn("SignIns.importTokens")(function* (
  deps: Deps,
  name: string,
  { tokens, ...named }: ImportTokens
) {
  const { provider } = yield* rowOf(deps, name)
  return yield* connect(deps, provider, named, tokens)
})

const cancel = Effect.fn("SignIns.cancel")(({ pending }: Deps, sessionId: string, caller: string) =>
  Effect.sync(() => pending.get(sessionId)?.caller === caller && pending.delete(sessionId))
)

export const make = Effect.gen(function* () {
  const all = yield* services
  const pending = new Map<string, Pending>()
  const state: State = { throttle: LoginThrottle.initial(yield* Clock.currentTimeMillis) }
  const deps: Deps = { ...all, pending, state }

  return SignIns.of({
    authorize: (name, begin) => authorize(deps, name, begin),
    device: (name, begin) => device(deps, name, begin),
    exchange: (name, given) => exchange(deps, name, given),
    arrive: (name, arrival) => arrive(deps, name, arrival),
    poll: (name, sessionId, caller) => poll(deps, name, sessionId, caller),
    importTokens: (name, tokens) => importTokens(deps, name, tokens),
    cancel: (sessionId, caller) => cancel(deps, sessionId, caller)
  })
})

export const layer: Layer.Layer<
  SignIns,
  never,
  AppConfig | Connections | GatewaySettings | IdGen | ProxyPlan | Upstream
> = Layer.effect(SignIns, make)
