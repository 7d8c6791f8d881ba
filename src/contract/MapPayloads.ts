/** A contract with other schemas of its request bodies. */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"

const mapEndpoint = (
  endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps,
  change: (schema: Schema.Schema.All) => Schema.Schema.All
) =>
  Option.match(endpoint.payloadSchema, {
    onNone: () => endpoint,
    onSome: (schema) => endpoint.setPayload(change(schema) as never)
  })

/** Replaces the body schema of every endpoint that has one. */
export const mapPayloads = <Api extends HttpApi.HttpApi.Any>(
  api: Api,
  change: (schema: Schema.Schema.All) => Schema.Schema.All
): Api => {
  let result = api as unknown as HttpApi.HttpApi.AnyWithProps
  const groups: ReadonlyArray<HttpApiGroup.HttpApiGroup.AnyWithProps> = Object.values(result.groups)
  for (const group of groups) {
    let changed = group
    for (const endpoint of Object.values(group.endpoints))
      changed = changed.add(mapEndpoint(endpoint, change)) as typeof group
    result = result.add(changed) as unknown as typeof result
  }
  return result as unknown as Api
}
