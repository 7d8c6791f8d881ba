/**
 * The contract of one group alone: what is served of it is made by the first request for it, because the schemas of all groups together are
 * larger than the rest of the gateway. Errors and bodies are as in the whole contract (`Api.ts`).
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { withCommonErrors } from "./CommonErrors.ts"
import { withStrictBodies } from "./StrictBodies.ts"

const made = new Map<string, HttpApiGroup.HttpApiGroup.Any>()

export const contractOf = <Group extends HttpApiGroup.HttpApiGroup.Any>(group: Group) => {
  const contract = withStrictBodies(withCommonErrors(HttpApi.make("gateway").add(group)))
  for (const each of Object.values(contract.groups)) made.set(each.identifier, each)
  return contract
}

/** A group whose contract was made, by its name. */
export const madeGroup = (name: string): HttpApiGroup.HttpApiGroup.AnyWithProps | undefined =>
  made.get(name) as HttpApiGroup.HttpApiGroup.AnyWithProps | undefined
