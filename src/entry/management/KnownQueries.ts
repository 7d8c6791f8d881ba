/**
 * Queries take the names that the contract of their route has and no others: a misspelt filter must not be read as no filter, nor one of a route
 * that has none.
 */
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { IsPaged } from "../../contract/Endpoints.ts"
import { madeGroup } from "../../contract/GroupContract.ts"
import { PageQuery } from "../../contract/Inputs.ts"
import { ListedBy, listQuery } from "../../contract/Listing.ts"
import type { ManagementKey } from "../../contract/ManagementRoutes.ts"

/** Routes whose callers are others' programs or browsers, which add what they like. */
const open: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "oauth.callback",
  "signIn.callback",
  "system.ping",
  "system.docs",
  "system.docsFile",
  "a2a.card",
  "a2a.formerCard"
])

const namesOf = (schema: Schema.Schema.All): ReadonlyArray<string> =>
  AST.getPropertySignatures(AST.encodedAST(schema.ast)).map(({ name }) => String(name))

const known = new Map<ManagementKey, ReadonlyArray<string> | null>()

const readNames = (key: ManagementKey): ReadonlyArray<string> | null => {
  const [group = "", name = ""] = key.split(".")
  const endpoint = madeGroup(group)?.endpoints[name]
  if (endpoint === undefined || open.has(key)) return null
  const { annotations, urlParamsSchema } = endpoint
  const listing = Context.getOption(annotations as Context.Context<never>, ListedBy)
  return [
    ...Option.match(urlParamsSchema, { onNone: () => [], onSome: namesOf }),
    ...Option.match(listing, {
      onSome: (listed) => namesOf(listQuery(listed)),
      onNone: () => (Context.get(annotations as Context.Context<never>, IsPaged) ? namesOf(PageQuery) : [])
    })
  ]
}

/** Names that the query of a route may have; null: any. */
export const queryNames = (key: ManagementKey): ReadonlyArray<string> | null => {
  const before = known.get(key)
  if (before !== undefined) return before
  const names = readNames(key)
  known.set(key, names)
  return names
}
