/** Rules for saving a connection, and the conversion of an input to a record. Pure but for the addresses of the machine. */
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { CreateConnection, OAuthInput, UpdateConnection } from "./routes.ts"
import type { AuthType, Connection, ConnectionSettings, OAuthTokens } from "./entity.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import { blockMessage, judgeUrl, providerPolicy } from "../../net/egress/OutboundPolicy.ts"
import type { BooleanFlag } from "../flags/FlagCatalog.ts"
import { isGatewayKey } from "../../kernel/secrets/GatewayKey.ts"
import { unmaskHeaders } from "../../kernel/text/Masking.ts"
import { isOwnAddress } from "../../platform/OwnAddress.ts"
import { transportOf, transportProblem } from "./TransportRules.ts"
import { endpointOf } from "../../plane/providers/Endpoints.ts"

const defaultPriority = 1

const tokensOf = (input: OAuthInput): OAuthTokens => ({
  accessToken: input.accessToken,
  refreshToken: input.refreshToken ?? null,
  expiresAtMs: input.expiresAt === undefined ? null : Date.parse(input.expiresAt),
  clientId: input.clientId ?? null,
  clientSecret: input.clientSecret ?? null,
  tokenUrl: input.tokenUrl ?? null
})

const authTypeOf = (input: CreateConnection, spec: ProviderSpec): AuthType => {
  if (input.authType !== undefined) return input.authType
  if (input.oauth !== undefined) return "oauth"
  if (input.apiKey !== undefined) return "apikey"
  if (spec.auth.type === "oauth") return "oauth"
  return spec.auth.type === "none" || spec.auth.type === "optional" ? "none" : "apikey"
}

/** A new connection's settings. */
export const settingsOf = (input: CreateConnection, spec: ProviderSpec): ConnectionSettings => ({
  provider: spec.id,
  name: input.name ?? spec.name,
  authType: authTypeOf(input, spec),
  apiKey: input.apiKey ?? null,
  oauth: input.oauth === undefined ? null : tokensOf(input.oauth),
  baseUrl: input.baseUrl ?? null,
  wires: input.wires ?? null,
  defaultModel: input.defaultModel ?? null,
  models: input.models ?? [],
  priority: input.priority ?? defaultPriority,
  tier: input.tier ?? null,
  maxConcurrent: input.maxConcurrent ?? input.max_concurrent ?? null,
  headers: input.headers ?? null,
  quotas: input.quotas ?? [],
  isActive: input.isActive ?? true,
  proxyEnabled: input.proxyEnabled ?? true,
  transport: transportOf(input.transport ?? null, null)
})

const given = <A>(value: A | undefined, before: A): A => (value === undefined ? before : value)

/** The settings after a change: what is absent stays, null clears. */
export const changed = (before: ConnectionSettings, input: UpdateConnection): ConnectionSettings => ({
  provider: before.provider,
  name: given(input.name, before.name),
  authType: given(input.authType, input.oauth === undefined ? before.authType : "oauth"),
  apiKey: given(input.apiKey, before.apiKey),
  oauth: input.oauth === undefined ? before.oauth : tokensOf(input.oauth),
  baseUrl: given(input.baseUrl, before.baseUrl),
  wires: given(input.wires, before.wires),
  defaultModel: given(input.defaultModel, before.defaultModel),
  models: given(input.models, before.models),
  priority: given(input.priority, before.priority),
  tier: given(input.tier, before.tier),
  maxConcurrent: given(input.maxConcurrent, given(input.max_concurrent, before.maxConcurrent)),
  headers: input.headers === undefined ? before.headers : unmaskHeaders(input.headers, before.headers),
  quotas: given(input.quotas, before.quotas),
  isActive: given(input.isActive, before.isActive),
  proxyEnabled: given(input.proxyEnabled, before.proxyEnabled),
  transport: input.transport === undefined ? before.transport : transportOf(input.transport, before.transport)
})

/** Facts that a rule needs beside the settings. */
export interface SaveFacts {
  readonly isNode: boolean
  /** Something secret is stored that cannot be read now. */
  readonly hasLockedSecret: boolean
  readonly isOn: (flag: BooleanFlag) => boolean
}

const problem = (field: string, message: string): FieldProblem => ({ field, message })

/** The limit of calls has two names; both may be given when they say the same. */
export const twoLimitsProblem = ({
  max_concurrent: older,
  maxConcurrent
}: Pick<CreateConnection, "maxConcurrent" | "max_concurrent">): FieldProblem | null =>
  maxConcurrent === undefined || older === undefined || maxConcurrent === older
    ? null
    : problem("max_concurrent", "is another value than maxConcurrent, and both mean the same; give one of them")

/** Describes the problem of an address by an operator, under the outbound policy in force. */
export const addressProblem = (
  field: string,
  url: string | null | undefined,
  isOn: SaveFacts["isOn"]
): FieldProblem | null => {
  if (url === null || url === undefined) return null
  const verdict = judgeUrl(url, providerPolicy(isOn))
  return verdict._tag === "Allowed" ? null : problem(field, blockMessage[verdict.reason])
}

/** Describes the problem of a key of this gateway: it would be sent to a provider, and is of no use there. */
export const gatewayKeyProblem = (field: string, secret: Redacted.Redacted | null): FieldProblem | null =>
  secret !== null && isGatewayKey(Redacted.value(secret))
    ? problem(field, "is a key of a gateway, which no provider knows; give the provider's own")
    : null

const secretProblem = ({ apiKey, headers, oauth }: ConnectionSettings): FieldProblem | null =>
  gatewayKeyProblem("apiKey", apiKey) ??
  gatewayKeyProblem("oauth.accessToken", oauth?.accessToken ?? null) ??
  gatewayKeyProblem(
    "headers",
    Object.values(headers ?? {}).find((value) => isGatewayKey(Redacted.value(value))) ?? null
  )

/** Checks whether a provider may have a further connection: a node has one, unless a flag allows several. */
export const mayAddConnection = (
  spec: ProviderSpec,
  connections: ReadonlyArray<Connection>,
  { isNode, isOn }: Pick<SaveFacts, "isNode" | "isOn">
): boolean =>
  !isNode ||
  isOn("ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE") ||
  !connections.some(({ provider }) => provider === spec.id)

/** The first thing that is wrong with a connection's settings; null when nothing is. */
export const problemOf = (
  settings: ConnectionSettings,
  spec: ProviderSpec,
  provider: SaveFacts
): FieldProblem | null => {
  if (settings.authType === "oauth" && settings.oauth === null && !provider.hasLockedSecret) {
    return problem("oauth", "is needed when authType is 'oauth'")
  }
  if (settings.authType === "apikey" && settings.apiKey === null && !provider.hasLockedSecret) {
    if (spec.auth.type !== "none" && spec.auth.type !== "optional")
      return problem("apiKey", `is needed for '${spec.id}'`)
  }
  if (settings.oauth?.tokenUrl !== undefined && settings.oauth.tokenUrl !== null && !provider.isNode) {
    return problem("oauth.tokenUrl", `may be given for provider nodes only; that of '${spec.id}' is fixed`)
  }
  if (settings.baseUrl === null && spec.baseUrl.includes("{")) {
    return problem("baseUrl", `is needed for '${spec.id}': its address has parts only you know (${spec.baseUrl})`)
  }
  return (
    secretProblem(settings) ??
    transportProblem(settings.transport, isOwnAddress) ??
    addressProblem("baseUrl", settings.baseUrl, provider.isOn) ??
    addressProblem("oauth.tokenUrl", settings.oauth?.tokenUrl, provider.isOn)
  )
}

/**
 * Lists the reasons for which a stored connection cannot be used, each a sentence; empty when it can, as far as is
 * known without a request.
 */
export const unusable = (
  connection: Connection,
  spec: ProviderSpec | null,
  isLocked: boolean
): ReadonlyArray<string> => {
  if (isLocked) return ["Its credential cannot be read with the present master key."]
  if (spec === null) return [`The provider '${connection.provider}' is not known.`]
  const errors = (connection.wires ?? spec.wires).flatMap((wire) =>
    Either.match(endpointOf(spec, connection, wire), { onLeft: (error) => [error.message], onRight: () => [] })
  )
  return [...new Set(errors)]
}
