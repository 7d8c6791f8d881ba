/**
 * Queries of a group take the names that its contract has and no others: a misspelt filter must not be read as no filter, nor one of a route that has
 * none. Set once for all endpoints of a group that says so.
 */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { strict } from "./StrictBodies.ts"

/** Marks a group whose queries are refused where they hold a name that is not theirs. */
export class HasStrictQueries extends Context.Reference<HasStrictQueries>()("gateway/contract/HasStrictQueries", {
  defaultValue: () => false
}) {}

/** A struct without fields takes whatever it is given. */
const none = Schema.Record({ key: Schema.String, value: Schema.Unknown }).pipe(
  Schema.filter((given) =>
    Object.keys(given).map((name) => ({ path: [name], message: "is unknown: this route takes no query" }))
  )
)

/** Adds the check of queries to the served API only: a client of the contract gives no query where there is none. */
export const withStrictQueries = <Api extends HttpApi.HttpApi.Any>(api: Api): Api => {
  let result = api as unknown as HttpApi.HttpApi.AnyWithProps
  const groups: ReadonlyArray<HttpApiGroup.HttpApiGroup.AnyWithProps> = Object.values(result.groups)
  for (const group of groups) {
    if (!Context.get(group.annotations as Context.Context<never>, HasStrictQueries)) continue
    let changed = group
    const endpoints: ReadonlyArray<HttpApiEndpoint.HttpApiEndpoint.AnyWithProps> = Object.values(group.endpoints)
    for (const endpoint of endpoints) {
      const schema: Schema.Schema.All = Option.getOrElse(endpoint.urlParamsSchema, () => none)
      changed = changed.add(endpoint.setUrlParams((schema === none ? none : strict(schema)) as never)) as typeof group
    }
    result = result.add(changed) as unknown as typeof result
  }
  return result as unknown as Api
}
