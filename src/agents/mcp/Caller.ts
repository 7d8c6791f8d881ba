/** Caller of a tool, and the tools that it may call. */
import { type EndpointCategory, type KeyScope, managementScopes, type Principal } from "../../subjects/keys/entity.ts"

export interface Caller {
  readonly principal: Principal
  /** Scopes that its tools may need; null: any. */
  readonly scopes: ReadonlySet<string> | null
  /** Address of the machine that asks; empty where it is unknown. */
  readonly ip: string
}

/**
 * Scopes that every caller has for tools, as on the inference routes: one without a key while none is required, and every key, within its limits.
 */
export const commonScopes: ReadonlySet<string> = new Set<KeyScope>([
  "execute:completions",
  "execute:search",
  "read:models",
  "read:tools",
  "read:catalog"
])

/** `isEnforced`: the flag `GATEWAY_MCP_ENFORCE_SCOPES`. It frees known keys only. */
export const scopesOf = (principal: Principal, isEnforced: boolean): ReadonlySet<string> | null => {
  if (principal._tag === "Anonymous") return commonScopes
  if (principal._tag !== "Key" || !isEnforced) return null
  const { scopes } = principal.key
  return managementScopes.some((scope) => scopes.includes(scope)) ? null : new Set([...commonScopes, ...scopes])
}

/** The scopes a caller lacks. */
export const missingScopes = ({ scopes }: Caller, needed: ReadonlyArray<KeyScope>): ReadonlyArray<KeyScope> =>
  scopes === null ? [] : needed.filter((scope) => !scopes.has(scope))

/** Describes why a key may not use a kind of endpoint by other means either, as a sentence; null: it may. */
export const endpointProblem = (
  { principal }: Pick<Caller, "principal">,
  category: EndpointCategory
): string | null => {
  if (principal._tag !== "Key") return null
  const { allowedEndpoints } = principal.key
  return allowedEndpoints.length === 0 || allowedEndpoints.includes(category)
    ? null
    : `This API key may not be used for ${category} (allowedEndpoints).`
}

/** Checks whether the caller manages the gateway. */
export const isManager = ({ principal }: Caller): boolean =>
  principal._tag !== "Anonymous" &&
  (principal._tag !== "Key" || managementScopes.some((scope) => principal.key.scopes.includes(scope)))

/** Identifies callers: a session belongs to one of them. */
export const identityOf = ({ principal }: Caller): string =>
  principal._tag === "Key" ? `key:${principal.key.id}` : principal._tag

/**
 * Checks whether a caller may use a server that is for these API keys only; null: for every one. A caller without a key
 * manages the gateway, or has no scope.
 */
export const mayUseServer = ({ principal }: Caller, allowedKeys: ReadonlyArray<string> | null): boolean =>
  allowedKeys === null || principal._tag !== "Key" || allowedKeys.includes(principal.key.id)

export const apiKeyIdOf = ({ principal }: Caller): string | null => (principal._tag === "Key" ? principal.key.id : null)
