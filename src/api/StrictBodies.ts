/**
 * Request bodies of the contract take the fields they name and no others: a misspelt restriction must not be read as no restriction.
 * Set once for all endpoints, whatever their schemas say.
 */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

const strict = (schema: Schema.Schema.All): Schema.Schema.All =>
  schema.annotations({
    parseOptions: {
      ...Option.getOrUndefined(AST.getParseOptionsAnnotation(schema.ast)),
      onExcessProperty: "error"
    }
  })

const strictEndpoint = (endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps) =>
  Option.match(endpoint.payloadSchema, {
    onNone: () => endpoint,
    onSome: (schema) => endpoint.setPayload(strict(schema) as never)
  })

/** The same contract, whose bodies are refused when they hold a field that is not theirs, at any depth. */
export const withStrictBodies = <Api extends HttpApi.HttpApi.Any>(api: Api): Api => {
  let result = api as unknown as HttpApi.HttpApi.AnyWithProps
  const groups: ReadonlyArray<HttpApiGroup.HttpApiGroup.AnyWithProps> = Object.values(result.groups)
  for (const group of groups) {
    let changed = group
    for (const endpoint of Object.values(group.endpoints))
      changed = changed.add(strictEndpoint(endpoint)) as typeof group
    result = result.add(changed) as unknown as typeof result
  }
  return result as unknown as Api
}
