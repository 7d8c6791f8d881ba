/**
 * Decides whether a caller may use a route: one pure decision from the route's tier and the facts of a request; it is made
 * nowhere else.
 */
import { type Reach, reachOf } from "../../contract/tiers/Rights.ts"
import type { Tier } from "../../contract/tiers/Tier.ts"
import { directoryScope, managementScopes } from "../keys/entity.ts"
import type { ApiKey, Principal, SessionPerson } from "../keys/entity.ts"
import type { KeyProblem } from "./KeyPolicy.ts"

/** The result of `ApiKeys.identify` for the key of a request. */
export type Identified = Principal | "missing" | "wrong"

export interface AccessFacts {
  readonly key: Identified
  /** The given key is unknown, but its checksum is valid: it was revoked or belongs to another gateway. */
  readonly keyIsOurs: boolean
  /** Reason for which a known key cannot be used now. */
  readonly keyProblem: KeyProblem | null
  /** Part of the gateway that the role of the key's person opens the route for. */
  readonly reach: Reach
  /** Id of the session the cookie names, while it is valid. */
  readonly sessionId: string | null
  /** Person of the session; null: the administrator. */
  readonly person: SessionPerson | null
  /** Part of the gateway that the session opens the route for: all of it to the administrator, to a person by the role. */
  readonly sessionReach: Reach
  /** The request has the credential of a login at the command line, valid or not: it was sent on purpose, and no browser adds it. */
  readonly isLogin: boolean
  /** The request names a key to act with. */
  readonly namesKey: boolean
  readonly csrfTokenValid: boolean
  /** A browser says that a page of the gateway's own address asks. */
  readonly ownPage: boolean
  readonly safeMethod: boolean
  readonly crossSite: boolean
  readonly loopback: boolean
  /** The request has the token of `INSPECTOR_INTERNAL_INGEST_TOKEN`. */
  readonly ingestTokenValid: boolean
  /** The flag `REQUIRE_API_KEY`. */
  readonly keysRequired: boolean
  /** The setting `metricsPublic`. */
  readonly metricsPublic: boolean
  /** True when there is an admin key, an admin password, or an API key with a management scope. */
  readonly adminConfigured: boolean
}

export interface Denied {
  readonly _tag: "Denied"
  readonly status: 401 | 403
  readonly code: string
  readonly message: string
  /** Caller whose credential is right and does not suffice. */
  readonly principal?: Principal
}

export type Access = { readonly _tag: "Allowed"; readonly principal: Principal } | Denied

const allowed = (principal: Principal): Access => ({ _tag: "Allowed", principal })
const denied = (status: 401 | 403, code: string, message: string): Denied => ({ _tag: "Denied", status, code, message })

/** Refused although it is known who asks. */
const deniedTo = (principal: Principal, refusal: Denied): Denied => ({ ...refusal, principal })

const anonymous: Principal = { _tag: "Anonymous" }

const noKey = denied(
  401,
  "missing_api_key",
  "No credential was given. Send an API key as 'Authorization: Bearer <key>' or 'x-api-key: <key>'."
)
const noManagementKey = denied(
  401,
  "missing_api_key",
  "Management needs an admin session, or a key of scope 'manage' or 'admin' as 'Authorization: Bearer <key>'; keys in other headers or in the address are not read here."
)
const wrongKey = denied(401, "invalid_api_key", "The API key is not known to this gateway.")
const noAdmin = denied(
  401,
  "admin_not_configured",
  "Management is locked because no administrator is set. Run 'gateway setup', or start the gateway with GATEWAY_ADMIN_KEY or GATEWAY_ADMIN_PASSWORD."
)
const noSession = denied(401, "session_required", "This route needs an admin session. Log in at POST /api/auth/login.")
const unprovedSession = denied(
  401,
  "session_unproved",
  "An admin session counts here only for pages of the gateway's own address: with 'Sec-Fetch-Site: same-origin', and the session's token as 'X-CSRF-Token'. Other programs send an API key."
)
const noKeyOfPerson = denied(
  401,
  "session_unproved",
  "People ask models with a key of their own: send its id as 'X-Gateway-As-Key', or the key itself."
)
const noModelsByLogin = denied(
  403,
  "login_asks_no_models",
  "A login at the command line asks no models. Send a key of the person ('gateway key list'), or set it as GATEWAY_API_KEY."
)
const noCsrf = denied(403, "csrf_token_invalid", "Send the session's CSRF token as 'X-CSRF-Token'.")
export const foreignSite = denied(403, "cross_site_request", "Requests from another site are refused.")
export const notLocal = denied(403, "loopback_only", "This route answers direct connections from this machine only.")
const noIngestToken = denied(
  403,
  "ingest_token",
  "This takes the token of INSPECTOR_INTERNAL_INGEST_TOKEN as 'Authorization: Bearer <token>'; while that is not set, it takes nothing."
)
const notOwner = denied(
  403,
  "owner_only",
  "This is for the owner of the gateway's data folder only: run the command on the gateway's machine, as the user who runs it."
)
const noScope = denied(403, "key_scope", "This API key lacks the scope 'manage' or 'admin'.")
const noRight = ({ owners }: ApiKey): Denied =>
  owners === undefined || owners.role === null
    ? noScope
    : denied(
        403,
        "key_scope",
        `This API key lacks the scope 'manage' or 'admin', and the role '${owners.role}' of its person does not open this.`
      )
const noDirectoryScope = denied(403, "key_scope", "This API key lacks the scope 'scim', 'manage' or 'admin'.")
const noMetricsScope = denied(
  403,
  "key_scope",
  "This API key lacks the scope 'read:metrics' or 'manage': metrics show what all keys are used for."
)
const noMetricsKey = denied(
  401,
  "missing_api_key",
  "From other machines metrics need an API key of scope 'read:metrics' or 'manage' as 'Authorization: Bearer <key>'."
)
const problems: Readonly<Record<KeyProblem, Denied>> = {
  expired: denied(401, "key_expired", "This API key has expired."),
  inactive: denied(401, "key_inactive", "This API key is not active."),
  owner: denied(
    403,
    "key_owner",
    "The person or team this API key belongs to may not use it now: the person is suspended or no member of the team, or one of them was removed."
  ),
  schedule: denied(403, "key_schedule", "This API key may not be used at this time (accessSchedule)."),
  ip: denied(403, "key_ip", "This API key may not be used from this address (ipAllowlist)."),
  endpoint: denied(403, "key_endpoint", "This API key may not use this kind of endpoint (allowedEndpoints).")
}

/** Checks whether a key's scopes let it manage the gateway. */
export const mayManage = (key: Pick<ApiKey, "scopes">): boolean =>
  managementScopes.some((scope) => key.scopes.includes(scope))

const mayReadMetrics = (key: Pick<ApiKey, "scopes">): boolean => key.scopes.includes("read:metrics") || mayManage(key)

const sessionOf = ({ isLogin, person }: AccessFacts, sessionId: string): Principal => ({
  _tag: "Session",
  sessionId,
  ...(person === null ? {} : { person }),
  ...(isLogin ? { isCommandLine: true } : {})
})

const noRightOfPerson = ({ role }: SessionPerson): Denied =>
  denied(403, "key_scope", `The role '${role}' of the person who is signed in does not open this.`)

/** `needsRight`: a person who has signed in needs a role that opens the route. */
const bySession = (facts: AccessFacts, sessionId: string, needsRight: boolean = true): Access => {
  const session = sessionOf(facts, sessionId)
  if (needsRight && facts.person !== null && facts.sessionReach === "none") {
    return deniedTo(session, noRightOfPerson(facts.person))
  }
  if (facts.safeMethod) return allowed(session)
  if (facts.crossSite) return deniedTo(session, foreignSite)
  return facts.csrfTokenValid ? allowed(session) : deniedTo(session, noCsrf)
}

/**
 * Every method needs the token here, GET too: what a session may ask is paid for, and no link or picture asks for it.
 */
const withoutKey = (facts: AccessFacts): Access => {
  const { csrfTokenValid, keysRequired, namesKey, ownPage, sessionId } = facts
  const isProved = sessionId !== null && ownPage && csrfTokenValid
  // What people ask has the limits of a key of theirs; who administers the gateway could lift them.
  if (isProved && (facts.sessionReach === "all" || namesKey)) return allowed(sessionOf(facts, sessionId))
  if (!keysRequired) return allowed(anonymous)
  if (isProved) return noKeyOfPerson
  return sessionId === null ? noKey : unprovedSession
}

/** Decides access to inference. While keys are not required, a foreign key (many clients send one) is ignored; a revoked one of ours stays refused. */
const inference = (facts: AccessFacts): Access => {
  if (facts.isLogin) return noModelsByLogin
  if (facts.key === "missing") return withoutKey(facts)
  if (facts.key === "wrong") return facts.keysRequired || facts.keyIsOurs ? wrongKey : allowed(anonymous)
  return facts.keyProblem === null ? allowed(facts.key) : deniedTo(facts.key, problems[facts.keyProblem])
}

/** A key, which is sent on purpose, wins over the cookie, which a browser adds by itself. */
const manage = (facts: AccessFacts): Access => {
  if (facts.key === "missing") {
    if (facts.sessionId !== null) return bySession(facts, facts.sessionId)
    return facts.adminConfigured ? noManagementKey : noAdmin
  }
  if (facts.key === "wrong") return facts.adminConfigured ? wrongKey : noAdmin
  if (facts.key._tag === "AdminKey" || facts.key._tag === "Owner") return allowed(facts.key)
  if (facts.keyProblem !== null) return deniedTo(facts.key, problems[facts.keyProblem])
  if (facts.key._tag !== "Key") return deniedTo(facts.key, noScope)
  return mayManage(facts.key.key) || facts.reach !== "none"
    ? allowed(facts.key)
    : deniedTo(facts.key, noRight(facts.key.key))
}

/** A key may ask about itself when its scopes say so. */
const self = (facts: AccessFacts): Access => {
  const { key, keyProblem } = facts
  if (typeof key !== "object" || key._tag !== "Key" || !key.key.scopes.includes("self:usage")) return manage(facts)
  return keyProblem === null ? allowed(key) : deniedTo(key, problems[keyProblem])
}

/** A key of a directory pushes people and teams, and nothing else of the management. */
const scim = (facts: AccessFacts): Access => {
  const { key, keyProblem } = facts
  if (typeof key !== "object" || key._tag !== "Key") return manage(facts)
  if (keyProblem !== null) return deniedTo(key, problems[keyProblem])
  if (key.key.scopes.includes(directoryScope)) return allowed(key)
  return mayManage(key.key) || facts.reach !== "none" ? allowed(key) : deniedTo(key, noDirectoryScope)
}

/** Decides which caller is told about itself: one that may do anything here. It opens nothing. */
const known = (facts: AccessFacts): Access => {
  if (facts.key === "missing") {
    if (facts.sessionId !== null) return bySession(facts, facts.sessionId, false)
    return facts.keysRequired ? noKey : allowed(anonymous)
  }
  if (facts.key === "wrong") return wrongKey
  return facts.keyProblem === null ? allowed(facts.key) : deniedTo(facts.key, problems[facts.keyProblem])
}

/** Metrics show who uses the gateway for what: an ordinary key of another machine does not read them. */
const scrape = (facts: AccessFacts): Access => {
  if (facts.loopback || facts.metricsPublic) return allowed(anonymous)
  const { key, keyProblem } = facts
  if (key === "missing") return facts.sessionId === null ? noMetricsKey : bySession(facts, facts.sessionId)
  if (key === "wrong") return wrongKey
  if (key._tag !== "Key") return allowed(key)
  if (keyProblem !== null) return deniedTo(key, problems[keyProblem])
  return mayReadMetrics(key.key) || facts.reach !== "none" ? allowed(key) : deniedTo(key, noMetricsScope)
}

const owner = (facts: AccessFacts): Access => {
  const access = manage(facts)
  return access._tag === "Denied" || access.principal._tag === "Owner" ? access : deniedTo(access.principal, notOwner)
}

/** Decides. Total over tiers. */
export const decide = (tier: Tier, facts: AccessFacts): Access => {
  switch (tier) {
    case "public":
      return !facts.safeMethod && facts.crossSite ? foreignSite : allowed(anonymous)
    case "inference":
      return inference(facts)
    case "scrape":
      return scrape(facts)
    case "manage":
      return manage(facts)
    case "self":
      return self(facts)
    case "scim":
      return scim(facts)
    case "known":
      return known(facts)
    case "session":
      // The owner of the data folder can set the password, and so has every session he wants.
      if (typeof facts.key === "object" && facts.key._tag === "Owner") return allowed(facts.key)
      return facts.sessionId === null ? noSession : bySession(facts, facts.sessionId)
    case "local":
      if (!facts.loopback) return notLocal
      return !facts.safeMethod && facts.crossSite ? foreignSite : allowed(anonymous)
    case "loopback":
      return facts.loopback ? manage(facts) : notLocal
    case "owner":
      return owner(facts)
    case "ingest":
      if (!facts.loopback) return notLocal
      return facts.ingestTokenValid ? allowed(anonymous) : noIngestToken
  }
}

/** A request that names a key to act with (`X-Gateway-As-Key`). */
export interface ActingFacts {
  /** The route is one of inference or of the playground, where an admin session may act with a key. */
  readonly takesSession: boolean
  /** The key with the id that was named; null: there is none. */
  readonly named: ApiKey | null
  /** Reason for which it cannot be used now. */
  readonly keyProblem: KeyProblem | null
}

const actingElsewhere = denied(
  403,
  "as_key_not_here",
  "X-Gateway-As-Key is for inference routes over HTTP and for the playground; this route does not act with another key. Send the request without it."
)
const actingWithoutSession = denied(
  403,
  "as_key_session_only",
  "Only an admin session may act with another key (X-Gateway-As-Key), on a page of the gateway's own address and with its CSRF token. Send the request without it, or send that key itself."
)
const actingAsNobody = denied(
  403,
  "as_key_unknown",
  "X-Gateway-As-Key names no API key of this gateway. Send the id of one (GET /api/keys)."
)

/** Tiers at which it does not matter who asks. */
const ofAnybody: ReadonlySet<Tier> = new Set(["public", "scrape", "local", "ingest"])

/** People act with their own keys; who administers the gateway acts with any but the owners'. */
const mayActAs = (person: SessionPerson | undefined, { owners, scopes, userId }: ApiKey): boolean => {
  if (person === undefined || person.role === "owner" || userId === person.userId) return true
  if (reachOf(person.role, "administer") !== "all") return false
  return owners?.role !== "owner" && !mayManage({ scopes })
}

/** Decides on a request that names a key to act with. `access`: what it may without that. */
export const actAs = (tier: Tier, access: Access, { keyProblem, named, takesSession }: ActingFacts): Access => {
  if (access._tag === "Denied" || ofAnybody.has(tier)) return access
  const { principal } = access
  if (!takesSession) return deniedTo(principal, actingElsewhere)
  if (principal._tag !== "Session") return deniedTo(principal, actingWithoutSession)
  if (named === null || !mayActAs(principal.person, named)) return deniedTo(principal, actingAsNobody)
  if (keyProblem !== null) return deniedTo(principal, problems[keyProblem])
  return allowed({ _tag: "Key", key: named, actingSessionId: principal.sessionId })
}
