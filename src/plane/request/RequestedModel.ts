/** Resolves a caller's model id, for those whose key may ask for it: judged by the id itself, and by its replacement. */
import type { ApiKey } from "../../subjects/keys/entity.ts"
import { KeyRejected, type ModelNotFound, type NoTarget } from "../../contract/domain/Errors.ts"
import { judgeFor, keyIn, usesAnyModel } from "../routing/resolve/KeyModels.ts"
import { mayUse } from "../routing/resolve/ModelIds.ts"
import type { Resolution } from "../routing/resolve/ModelResolver.ts"
import type * as Resolutions from "../routing/resolve/Resolutions.ts"
import type { Exchange } from "./Exchange.ts"

type Resolved = Resolution | ModelNotFound | NoTarget | KeyRejected

/** Checks whether a model that may not be used makes the request a wrong one, as on the messages wire. */
const isBadRequest = ({ wire }: Pick<Exchange, "wire">): boolean => wire === "messages"

/** Kind of a request: one that is not a client's own is a conversation. */
type Asking = Pick<Exchange, "service"> & Partial<Pick<Exchange, "codec">>

const resolvedBy = (resolutions: typeof Resolutions.Resolutions.Service, { codec, service }: Asking, model: string) => {
  if (service !== undefined) return resolutions.service(service)
  return codec?.endpoint === "images" ? resolutions.requestedForPictures(model) : resolutions.requested(model)
}

const restricted = (
  resolutions: typeof Resolutions.Resolutions.Service,
  key: ApiKey,
  exchange: Asking & Pick<Exchange, "wire">,
  model: string
): Resolved => {
  const noModel = (id: string, more: { readonly requested?: string } = {}) =>
    new KeyRejected({ reason: "model", model: id, isBadRequest: isBadRequest(exchange), ...more })
  const resolution = resolvedBy(resolutions, exchange, model)
  // A key that may not use a model does not learn whether it exists.
  if ("_tag" in resolution) return mayUse(key, model) ? resolution : noModel(model)
  const verdict = judgeFor(key, model, resolution)
  if (verdict._tag === "MayNot") {
    return verdict.reason === "model" ? noModel(model) : new KeyRejected({ reason: verdict.reason, model })
  }
  const { fallbackModel } = resolution
  return fallbackModel === undefined || mayUse(key, fallbackModel)
    ? verdict.resolution
    : noModel(fallbackModel, { requested: model })
}

/** Hot. */
export const resolveFor = (
  resolutions: typeof Resolutions.Resolutions.Service,
  exchange: Asking & Pick<Exchange, "principal" | "wire">,
  model: string
): Resolved => {
  const key = keyIn(exchange.principal)
  return key === null || usesAnyModel(key)
    ? resolvedBy(resolutions, exchange, model)
    : restricted(resolutions, key, exchange, model)
}

/** Changed resolutions, by the original one: derived facts are kept by the resolution. */
const inBackground = new WeakMap<Resolution, Resolution>()

/** Hot: resolves a request made in the background: to the operator's model for them, where its caller may use that; else `found`. */
export const backgroundFor = (
  resolutions: typeof Resolutions.Resolutions.Service,
  exchange: Asking & Pick<Exchange, "principal" | "wire">,
  model: string,
  found: Resolved
): Resolved => {
  if (found instanceof KeyRejected) return found
  const other = resolveFor(resolutions, exchange, model)
  if ("_tag" in other) return found
  const known = inBackground.get(other)
  if (known !== undefined) return known
  const made: Resolution = { ...other, fallbackModel: model, standsIn: "background" }
  inBackground.set(other, made)
  return made
}
