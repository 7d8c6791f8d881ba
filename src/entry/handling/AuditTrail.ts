/**
 * The row of the audit log of one management request. What is known of it is collected while it runs: who asked (`management/Access`), and which
 * fields were sent (`management/WholeBody`), and what the change has made of the object (`management/Changes`). Of what was sent only names and ids are
 * kept: a value may be a secret. What is kept of the object is chosen by `subjects/audit/Differences`.
 */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type ContractError, statusOf } from "../../contract/Errors.ts"
import type { ManagementKey, ManagementRoute } from "../../contract/ManagementRoutes.ts"
import { sessionActor } from "../../subjects/auth/ActingAs.ts"
import type { ApiKey, Principal, SessionPerson } from "../../subjects/keys/entity.ts"
import { anonymous, type AuditDetails, type AuditRow, type FieldChange } from "../../subjects/audit/entity.ts"
import { typeAndCode } from "../../contract/domain/Errors.ts"
import { pathOnly } from "../../observe/usage/telemetry/Summary.ts"
import { isObject as isMembers, objectOr } from "../../wire/json/Json.ts"

export interface Trail {
  principal: Principal | null
  /** The body, once it was read as JSON. */
  body: unknown
  /** Fields that are different in the object after the change. */
  changes?: ReadonlyArray<FieldChange>
  /** Author of a request whose state names who began what it ends. */
  began?: { readonly actor: string; readonly made: string | null }
  /** The request has asked and changed nothing, so that it leaves no row. */
  isUneventful?: true
}

/** Trail of the request that runs; null outside of one that is recorded. */
export class CurrentTrail extends Context.Reference<CurrentTrail>()("gateway/entry/handling/CurrentTrail", {
  defaultValue: (): Trail | null => null
}) {}

/** Returns who asks, by the trail of the request that runs. */
export const currentPrincipal: Effect.Effect<Principal> = Effect.map(
  CurrentTrail,
  (trail) => trail?.principal ?? { _tag: "Anonymous" }
)

export type Outcome =
  | { readonly _tag: "Answered"; readonly response: HttpServerResponse.HttpServerResponse }
  | { readonly _tag: "Refused"; readonly error: ContractError }
  /** The client left before the answer. */
  | { readonly _tag: "Left" }

export interface Recorded {
  readonly route: Pick<ManagementRoute, "key">
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, unknown>>
  readonly trail: Trail
  readonly outcome: Outcome
  readonly requestId: string
  readonly atMs: number
  readonly ip: string
}

/** `settings.update` of every route that changes settings. */
const settings = { done: "settings.update", failed: "settings.update_failed" }

const established: Readonly<Partial<Record<ManagementKey, { readonly done: string; readonly failed?: string }>>> = {
  "auth.logout": { done: "auth.logout.success", failed: "auth.logout.failed" },
  "signIn.logout": { done: "auth.logout.success", failed: "auth.logout.failed" },
  "providers.create": { done: "provider.credentials.created" },
  "providers.update": { done: "provider.credentials.updated" },
  "providers.remove": { done: "provider.credentials.revoked" },
  "cloud.putCredentials": { done: "provider.credentials.updated" },
  "cloud.updateCredentials": { done: "provider.credentials.updated" },
  "keys.rotate": { done: "apiKey.regenerate" },
  "quotaGroups.create": { done: "quota.pool.created" },
  "quotaGroups.update": { done: "quota.pool.updated" },
  "quotaGroups.remove": { done: "quota.pool.deleted" },
  "usageHistory.purge": { done: "compliance.cleanup" },
  "routingSettings.update": settings,
  "resilience.update": settings,
  "gatewaySettings.update": settings,
  "gatewaySettings.put": settings,
  "gatewaySettings.setIpFilter": settings,
  "gatewaySettings.setThinkingBudget": settings,
  "gatewaySettings.setSystemPrompt": settings,
  "gatewaySettings.setRequireLogin": settings,
  "compression.setSettings": settings,
  "compressionCombos.setCaveman": settings
}

const loginAction = (isSuccess: boolean, status: number, code: string | undefined): string => {
  if (isSuccess) return "auth.login.success"
  if (status === 429) return "auth.login.locked"
  if (code === "admin_not_configured") return "auth.login.setup_required"
  return status >= 500 ? "auth.login.error" : "auth.login.failed"
}

/** Names the action of a step of a sign-in: the one that makes a connection imports its credential. */
const signInAction = (recorded: Recorded): string =>
  madeConnection(recorded) === null ? recorded.route.key : "provider.credentials.imported"

const actionOf = (key: ManagementKey, isSuccess: boolean, { code, fields = [], httpStatus }: AuditDetails): string => {
  if (key === "auth.login") return loginAction(isSuccess, httpStatus, code)
  if (fields.includes("scopes")) {
    if (key === "keys.create") return "apiKey.scopes.grant"
    if (key === "keys.update" || key === "keys.patch") return "apiKey.scopes.update"
  }
  const names = established[key]
  return names === undefined ? key : isSuccess ? names.done : (names.failed ?? names.done)
}

const actorOf = (key: ManagementKey, isSuccess: boolean, principal: Principal | null): string => {
  switch (principal?._tag) {
    case "AdminKey":
      return "admin-key"
    case "Owner":
      return "owner"
    case "Session":
      return sessionActor(principal.sessionId)
    case "Key":
      return principal.actingSessionId === undefined
        ? `apiKey:${principal.key.id}`
        : sessionActor(principal.actingSessionId)
    default:
      return key === "auth.login" && isSuccess ? "admin" : anonymous
  }
}

/** Names the caller as the audit log does; `anonymous` where it is not known. */
export const callerOf = (trail: Trail | null): string => actorOf("oauth.act", true, trail?.principal ?? null)

const maxText = 200
const maxFields = 64
/** Longer bodies are not read again for an id. */
const maxAnswerBytes = 65_536

const short = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? pathOnly(value).slice(0, maxText) : null

/** Members of bodies and queries that name what is changed; in this order. */
const naming: Readonly<Partial<Record<ManagementKey, ReadonlyArray<string>>>> = {
  "providerModels.create": ["modelId"],
  "providerModels.update": ["modelId"],
  "providerModels.remove": ["id", "modelId"],
  "cloud.putCredentials": ["connectionId", "provider"],
  "cloud.updateCredentials": ["connectionId", "provider"],
  "cloud.putAlias": ["alias"],
  "cloud.setAlias": ["alias"],
  "modelAliases.set": ["alias"],
  "modelAliases.remove": ["alias"],
  "limits.setBudget": ["apiKeyId"],
  "limits.removeBudget": ["apiKeyId"],
  "limits.setTokenLimit": ["apiKeyId"],
  "limits.removeTokenLimit": ["id"],
  "flags.set": ["key"],
  "backups.restore": ["backupId"],
  "policies.act": ["identifier"]
}

/** `id` of the answer, or of its first member that has one. */
const idIn = (answer: unknown): string | null => {
  if (!isMembers(answer)) return null
  const own = short(answer["id"]) ?? short(answer["keyId"])
  if (own !== null) return own
  const member = Object.values(answer).find((value) => isMembers(value) && typeof value["id"] === "string")
  return isMembers(member) ? short(member["id"]) : null
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const answeredId = ({ body }: HttpServerResponse.HttpServerResponse): string | null =>
  body._tag === "Uint8Array" && body.body.length <= maxAnswerBytes
    ? idIn(parsed(new TextDecoder().decode(body.body)))
    : null

const isSignIn = (key: ManagementKey): boolean => key === "oauth.act" || key === "oauth.callback"

/** Id of the connection that a step of a sign-in made. */
const madeConnection = ({ outcome, trail }: Recorded): string | null =>
  trail.began?.made ?? (outcome._tag === "Answered" ? answeredId(outcome.response) : null)

const targetOf = (recorded: Recorded, isSuccess: boolean): string | null => {
  const { outcome, parameters, query, route, trail } = recorded
  const inPath = Object.values(parameters).flatMap((value) => short(value) ?? [])
  if (isSignIn(route.key)) {
    const made = madeConnection(recorded)
    if (made !== null) return made
  }
  if (inPath.length > 0) return inPath.join("/").slice(0, maxText)
  // Of a refused request nothing is known to be a name.
  if (!isSuccess) return null
  const body = objectOr(trail.body)
  for (const name of naming[route.key] ?? []) {
    const found = short(body[name]) ?? short(query[name])
    if (found !== null) return found
  }
  return outcome._tag === "Answered" ? answeredId(outcome.response) : null
}

const statusIn = (outcome: Outcome): number => {
  if (outcome._tag === "Left") return 499
  return outcome._tag === "Answered" ? outcome.response.status : statusOf[outcome.error._tag]
}

/** Names the person whom a key belongs to. */
const personOf = ({ owners, userId }: ApiKey): Pick<AuditDetails, "userId" | "userName"> => {
  if (userId === null) return {}
  const name = owners?.person ?? null
  return { userId, ...(name === null ? {} : { userName: name.slice(0, maxText) }) }
}

/** Names the person who has signed in. */
const personIn = (person: SessionPerson | undefined): Pick<AuditDetails, "userId" | "userName"> =>
  person === undefined ? {} : { userId: person.userId, userName: person.name.slice(0, maxText) }

/** Names who asks: the key, and the person that it belongs to or that has signed in. */
export const whoOf = (principal: Principal | null): Pick<AuditDetails, "apiKeyName" | "userId" | "userName"> => {
  if (principal?._tag === "Session") return personIn(principal.person)
  if (principal?._tag !== "Key") return {}
  return { apiKeyName: principal.key.name.slice(0, maxText), ...personOf(principal.key) }
}

const detailsOf = ({ outcome, trail }: Recorded, httpStatus: number, isSuccess: boolean): AuditDetails => {
  const sent = isSuccess && isMembers(trail.body) ? Object.keys(trail.body).slice(0, maxFields) : []
  return {
    httpStatus,
    ...(outcome._tag === "Refused" ? { code: outcome.error.code ?? typeAndCode(httpStatus)[1] } : {}),
    ...whoOf(trail.principal),
    ...(trail.principal?._tag === "Key" && trail.principal.actingSessionId !== undefined
      ? { asKey: trail.principal.key.id }
      : {}),
    ...(sent.length === 0 ? {} : { fields: sent.map((name) => name.slice(0, maxText)) }),
    ...(isSuccess && trail.changes !== undefined && trail.changes.length > 0 ? { changes: trail.changes } : {})
  }
}

export const rowOf = (recorded: Recorded): AuditRow => {
  const { atMs, ip, outcome, requestId, route, trail } = recorded
  const httpStatus = statusIn(outcome)
  const isSuccess = httpStatus < 400
  const details = detailsOf(recorded, httpStatus, isSuccess)
  return {
    id: requestId,
    timestampMs: Math.trunc(atMs),
    action: isSignIn(route.key) ? signInAction(recorded) : actionOf(route.key, isSuccess, details),
    actor: trail.began?.actor ?? actorOf(route.key, isSuccess, trail.principal),
    target: targetOf(recorded, isSuccess),
    resourceType: route.key.slice(0, route.key.indexOf(".")),
    status: isSuccess ? "success" : "failure",
    ip,
    details
  }
}
