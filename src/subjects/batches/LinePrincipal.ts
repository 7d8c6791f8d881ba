/** Principal in whose name the lines of a batch are asked. */
import type { ApiKeys } from "../auth/ApiKeys.ts"
import { innerRefusalOf } from "../auth/KeyPolicy.ts"
import type { Principal } from "../keys/entity.ts"
import { keylessPrincipal } from "../auth/KnownCallers.ts"
import type { Batch } from "./entity.ts"
import type { Endpoint } from "./Endpoints.ts"

/** A text: why that is not possible. Asked for every line: a key may be revoked while a batch is in progress. */
export const principalOf = (
  keys: Pick<typeof ApiKeys.Service, "get">,
  { caller, owner }: Pick<Batch, "caller" | "owner">,
  { category }: Pick<Endpoint, "category">,
  nowMs: number
): Principal | string => {
  if (owner === "") return keylessPrincipal(caller)
  const key = keys.get(owner)
  if (key === null) return "The API key of the batch was removed."
  return innerRefusalOf(key, nowMs, category) ?? { _tag: "Key", key }
}
