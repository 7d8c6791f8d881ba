/**
 * Stored credentials are bound to their address: a change that moves a connection or a node elsewhere must give its secrets again, or
 * else a change of address would be a way to read them out. Pure.
 */
import * as Redacted from "effect/Redacted"
import type { Connection, ConnectionSettings, SecretHeaders } from "./entity.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { ProviderNode } from "../nodes/entity.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import { isSecretHeader } from "../../kernel/text/Masking.ts"
import { isSameAddress } from "../../plane/providers/Address.ts"

/** A record of which some secret cannot be read now; with the right master key it can again. */
type Stored<A> = A & { readonly locked: boolean }

type Secrets = Pick<ConnectionSettings, "apiKey" | "headers" | "oauth">

const again =
  "is needed again in the same request: baseUrl changes, and what is stored must not be sent to another address"

/** Secrets are compared as objects: one that was given anew is another object, whatever it holds. */
const keptHeaders = (before: SecretHeaders | null, after: SecretHeaders | null): boolean =>
  Object.entries(after ?? {}).some(
    ([name, value]) => before?.[name] === value && isSecretHeader(name, Redacted.value(value))
  )

const keptField = (before: Stored<Secrets>, after: Secrets): "apiKey" | "headers" | "oauth" | null => {
  if (after.apiKey !== null && after.apiKey === before.apiKey) return "apiKey"
  if (after.oauth !== null && after.oauth === before.oauth) return "oauth"
  if (keptHeaders(before.headers, after.headers)) return "headers"
  // Something is stored that cannot be read now, and nothing was given in its place.
  const given = after.apiKey !== before.apiKey || after.oauth !== before.oauth || after.headers !== before.headers
  return before.locked && !given ? "apiKey" : null
}

/**
 * Describes what a change of a connection's address lacks; null when the address stays or no stored secret goes along.
 */
export const connectionMoveProblem = (
  before: Stored<ConnectionSettings>,
  after: ConnectionSettings,
  spec: ProviderSpec
): FieldProblem | null => {
  if (isSameAddress(before.baseUrl ?? spec.baseUrl, after.baseUrl ?? spec.baseUrl)) return null
  const field = keptField(before, after)
  return field === null ? null : { field, message: again }
}

const holdsSecret = (connection: Stored<Secrets>): boolean => keptField(connection, connection) !== null

/** Checks whether the key is all that a connection keeps secret, so that a new key is all it needs. */
const holdsKeyOnly = ({ apiKey, headers, locked, oauth }: Stored<Secrets>): boolean =>
  apiKey !== null && !holdsSecret({ apiKey: null, headers, locked, oauth })

export type NodeMove =
  | { readonly _tag: "Allowed"; readonly rekeyed: Stored<Connection> | null }
  | { readonly _tag: "Refused"; readonly problem: FieldProblem }

const refused = (field: string, message: string): NodeMove => ({ _tag: "Refused", problem: { field, message } })

/**
 * Decides what a change of a node's address needs. `connections` are all of the node; those with a base URL of their own do
 * not move. `rekeyed` is the one connection that takes over a key that was given along.
 */
export const nodeMove = (
  before: Stored<ProviderNode>,
  after: ProviderNode,
  connections: ReadonlyArray<Stored<Connection>>,
  isKeyGiven: boolean
): NodeMove => {
  const moves = !isSameAddress(before.baseUrl, after.baseUrl)
  const headersGiven = after.headers !== before.headers
  if (moves && (keptHeaders(before.headers, after.headers) || (before.locked && !headersGiven))) {
    return refused("headers", again)
  }
  const holders = connections.filter((connection) => connection.baseUrl === null && holdsSecret(connection))
  const [only, ...others] = holders
  if (isKeyGiven) {
    return only !== undefined && others.length === 0 && holdsKeyOnly(only)
      ? { _tag: "Allowed", rekeyed: only }
      : refused(
          "apiKey",
          "may be given here only for a node with exactly one connection at its address that holds a key"
        )
  }
  if (!moves || only === undefined) return { _tag: "Allowed", rekeyed: null }
  return others.length === 0 && holdsKeyOnly(only)
    ? refused("apiKey", `of the connection '${only.name}' ${again}`)
    : refused(
        "apiKey",
        `${holders.length === 1 ? "a connection of this node keeps" : `${holders.length} connections of this node keep`} credentials for its address. Give each a baseUrl of its own together with its credentials first`
      )
}
