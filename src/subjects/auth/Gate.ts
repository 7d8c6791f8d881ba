/**
 * Access control for inference and management: collects the facts of a request and lets `Access.decide` decide. Hot and synchronous,
 * because inference requests use it too.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { type Operation, type Reach, reachOf } from "../../contract/tiers/Rights.ts"
import { callerTiers, type CallerTier, type Tier } from "../../contract/tiers/Tier.ts"
import type { EndpointCategory } from "../keys/entity.ts"
import { Flags } from "../flags/service.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { actAs, decide, type Access, type Denied, type Identified } from "./Access.ts"
import { AdminPassword } from "./AdminPassword.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { bearerOf, headerOf, keyOf } from "./Credentials.ts"
import type { RequestHeaders } from "./Credentials.ts"
import { isCrossSite, isCsrfToken, isOwnPage, isSafeMethod } from "./Csrf.ts"
import { foreignOriginOf, isNamedOrigin, judgeSite, type SiteRules } from "./ForeignSite.ts"
import { problemOf } from "./KeyPolicy.ts"
import { isLoginToken, isWellFormed } from "./KeyFormat.ts"
import { ingestTokenIn } from "./IngestToken.ts"
import { isLoopback } from "./Loopback.ts"
import { isDirect, OwnerToken } from "./OwnerToken.ts"
import type { Peer } from "./PeerAddress.ts"
import { People } from "../people/People.ts"
import { cookieOf } from "./sessions/SessionCookie.ts"
import { makeSessionFacts, sessionReach } from "./sessions/SessionFacts.ts"
import { Sessions } from "./sessions/Sessions.ts"

export interface GateRequest {
  readonly method: string
  /** The request target with its query. */
  readonly url: string
  readonly headers: RequestHeaders
  /** Peer address (`PeerAddress.peerAddressOf`), never from a header; null: not known. */
  readonly socketAddress: string | null
  /** Category of the route; null where it is not one of inference. */
  readonly category: EndpointCategory | null
  /**
   * An admin session may use the route as a caller of inference may, and act with a key there. Of the tier `inference` only: the routes that ask
   * models, and what belongs to them.
   */
  readonly takesSession: boolean
  /** Right of people that opens the route; asked for where the key belongs to a person. Absent: `administer`. */
  readonly operation?: () => Operation
  /** A socket looks whether its caller may still listen: that is no use of a session or a key. */
  readonly isLook?: boolean
}

/** Header with the id of the API key whose rights an admin session acts with. */
export const asKeyHeader = "x-gateway-as-key"

const filtered: Denied = {
  _tag: "Denied",
  status: 403,
  code: "ip_filtered",
  message: "The gateway does not answer this address (PUT /api/settings/ip-filter)."
}

const keysRequired: Denied = {
  _tag: "Denied",
  status: 403,
  code: "keys_required",
  message:
    "No request is answered through a tunnel while the gateway requires no API key. Set REQUIRE_API_KEY=true, or open the tunnel with allowKeyless."
}

const foreignPage: Denied = {
  _tag: "Denied",
  status: 403,
  code: "cross_site_request",
  message:
    "Pages of other origins may not call this route. Name the origin in CORS_ORIGINS or corsOrigins (PATCH /api/settings) to allow it."
}

export class Gate extends Context.Tag("gateway/subjects/auth/Gate")<
  Gate,
  {
    /**
     * Refuses addresses that the IP filter does not let in, requests through tunnels while no key is required, and requests of foreign sites,
     * before the route, the key and the body are read; null when the request is allowed.
     */
    readonly admit: (headers: RequestHeaders, peer: Peer) => Denied | null
    /** Refuses pages of other origins, with or without a key, unless they are named; null when the request is allowed. */
    readonly foreignOrigin: (headers: RequestHeaders) => Denied | null
    /** The `Origin` of a request, when `CORS_ORIGINS` or the setting `corsOrigins` names it. */
    readonly namedOrigin: (headers: RequestHeaders) => string | null
    /** Hot: tells whether any origin is named, so that answers depend on the `Origin`. */
    readonly namesOrigins: () => boolean
    /** Lists the tiers whose routes this caller may read. */
    readonly tiers: (request: GateRequest, nowMs: number) => ReadonlyArray<CallerTier>
    /** Decides whether this caller may use a route of the tier. */
    readonly judge: (tier: Tier, request: GateRequest, nowMs: number) => Access
  }
>() {}

const owner: Identified = { _tag: "Owner" }

const administer = (): Operation => "administer"

const misuse =
  "The owner's token of this run came with a request that was not made by a program on this machine; it was refused as a wrong key is. " +
  "If the file with it was copied, restart the gateway: each start makes a new token."

/** Values of `HOST` that mean all addresses of the machine. */
const everyAddress = new Set(["0.0.0.0", "::", "[::]", "*"])

/** Gives the rules for sites, made anew when a setting has changed. */
const makeSiteRules = (
  settings: typeof GatewaySettings.Service,
  corsOrigins: ReadonlyArray<string>,
  boundHost: string | null
): (() => SiteRules) => {
  let known = { hosts: settings.allowedHosts(), origins: settings.corsOrigins() }
  const rulesOf = (): SiteRules => ({
    boundHost,
    allowedHosts: known.hosts,
    origins: new Set([...corsOrigins, ...known.origins])
  })
  let rules = rulesOf()
  return () => {
    const hosts = settings.allowedHosts()
    const origins = settings.corsOrigins()
    if (known.hosts !== hosts || known.origins !== origins) {
      known = { hosts, origins }
      rules = rulesOf()
    }
    return rules
  }
}

/** Hot: finds what the role of a key's person opens the route for. */
const personsReach = (key: Identified, { operation }: GateRequest): Reach => {
  const role = typeof key === "object" && key._tag === "Key" ? (key.key.owners?.role ?? null) : null
  return role === null ? "none" : reachOf(role, operation?.() ?? "administer")
}

export const make = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const sessionFacts = makeSessionFacts(yield* Sessions, yield* People)
  const password = yield* AdminPassword
  const flags = yield* Flags
  const settings = yield* GatewaySettings
  const ownerToken = yield* OwnerToken
  const { corsOrigins, environment, host } = yield* AppConfig
  const isIngestToken = ingestTokenIn(environment)
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const rulesNow = makeSiteRules(settings, corsOrigins, everyAddress.has(host) ? null : host.toLowerCase())

  let isMisuseLogged = false
  /**
   * Identifies the owner of a key that is no API key. Used in any other way than by a command, the token is a wrong
   * key.
   */
  const ownerOf = (rawKey: string, { headers, socketAddress }: GateRequest): Identified => {
    if (!ownerToken.matches(rawKey)) return "wrong"
    if (isDirect(rawKey, headers, socketAddress)) return owner
    if (!isMisuseLogged) runFork(Effect.logWarning(misuse))
    isMisuseLogged = true
    return "wrong"
  }

  /** Acts in the name of a key whose secret was not used, so this is no use of it. */
  const acting = (tier: Tier, access: Access, request: GateRequest, nowMs: number): Access => {
    const id = headerOf(request.headers, asKeyHeader)
    const named = id === null ? null : keys.get(id)
    return actAs(tier, access, {
      takesSession: request.takesSession,
      named,
      keyProblem: named === null ? null : problemOf(named, nowMs, request)
    })
  }

  const judge = (tier: Tier, request: GateRequest, nowMs: number): Access => {
    const { headers } = request
    const inferenceOnly = tier === "inference"
    const rawKey = inferenceOnly ? keyOf(headers, request.url) : bearerOf(headers)
    const known = keys.identify(rawKey)
    // Looked at where no key is known only, so that requests with good keys do not pay for it.
    const login = known === "wrong" && rawKey !== null && isLoginToken(rawKey) ? rawKey : null
    // Where the cookie does not count it is not read, nor is it beside a key.
    const hasCookie = login === null && !(inferenceOnly && (!request.takesSession || rawKey !== null))
    const cookie = hasCookie ? cookieOf(headers) : null
    const session = sessionFacts(login ?? cookie, nowMs, request.isLook === true)
    const isLogin = login !== null
    const isFound = isLogin && session.sessionId !== null
    const key = isFound ? "missing" : known === "wrong" && rawKey !== null ? ownerOf(rawKey, request) : known
    const access = decide(tier, {
      key,
      keyIsOurs: key === "wrong" && rawKey !== null && (login !== null || isWellFormed(rawKey)),
      keyProblem: typeof key === "object" && key._tag === "Key" ? problemOf(key.key, nowMs, request) : null,
      reach: inferenceOnly ? "none" : personsReach(key, request),
      ...session,
      isLogin,
      sessionReach: sessionReach(session, (inferenceOnly ? undefined : request.operation) ?? administer),
      namesKey: headers[asKeyHeader] !== undefined,
      csrfTokenValid: isLogin || (cookie !== null && isCsrfToken(cookie, headerOf(headers, "x-csrf-token"))),
      ownPage: inferenceOnly && cookie !== null && isOwnPage(headers),
      safeMethod: isSafeMethod(request.method),
      crossSite: !inferenceOnly && isCrossSite(headers),
      loopback: !inferenceOnly && isLoopback(request.socketAddress, headers),
      ingestTokenValid: tier === "ingest" && isIngestToken(rawKey),
      keysRequired: flags.isOn("REQUIRE_API_KEY"),
      metricsPublic: tier === "scrape" && settings.current().metricsPublic,
      adminConfigured: inferenceOnly || password.isSet() || keys.canManage(nowMs)
    })
    if (headers[asKeyHeader] !== undefined) return acting(tier, access, request, nowMs)
    if (request.isLook === true) return access
    if (access._tag === "Allowed" && access.principal._tag === "Key") keys.used(access.principal.key, nowMs)
    return access
  }
  return Gate.of({
    admit: (headers, { localAddress, remoteAddress, tunnel }) => {
      const refuses = settings.access.refusesAddress()
      if (refuses !== null && !isLoopback(remoteAddress, headers)) {
        if (remoteAddress === null || refuses(remoteAddress)) return filtered
      }
      if (flags.isOn("REQUIRE_API_KEY")) return null
      if (tunnel !== null && !tunnel.allowsKeyless()) return keysRequired
      return judgeSite(headers, () => localAddress, rulesNow(), tunnel?.publicHosts() ?? null)
    },
    foreignOrigin: (headers) => (foreignOriginOf(headers, rulesNow()) === null ? null : foreignPage),
    namedOrigin: (headers) => {
      const origin = headerOf(headers, "origin")
      return origin !== null && isNamedOrigin(origin, rulesNow()) ? origin : null
    },
    namesOrigins: () => rulesNow().origins.size > 0,
    tiers: (request, nowMs) => callerTiers.filter((tier) => judge(tier, request, nowMs)._tag === "Allowed"),
    judge
  })
})

export const layer: Layer.Layer<
  Gate,
  never,
  ApiKeys | People | Sessions | AdminPassword | OwnerToken | Flags | GatewaySettings | AppConfig
> = Layer.effect(Gate, make)
