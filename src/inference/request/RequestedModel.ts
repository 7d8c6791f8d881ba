/** What a caller's model id leads to, for those whose key may ask for it: judged by the id itself, and by what stands in for it. */
import type { ApiKey } from "../../domain/ApiKey.ts"
import { KeyRejected, type ModelNotFound, type NoTarget } from "../../domain/Errors.ts"
import { judgeFor, keyIn, usesAnyModel } from "../../routing/resolve/KeyModels.ts"
import { mayUse } from "../../routing/resolve/ModelIds.ts"
import type { Resolution } from "../../routing/resolve/ModelResolver.ts"
import type * as Resolutions from "../../routing/resolve/Resolutions.ts"
import type { Exchange } from "./Exchange.ts"

type Resolved = Resolution | ModelNotFound | NoTarget | KeyRejected

/** On the messages wire a model that may not be used is a wrong request. */
const isBadRequest = ({ wire }: Pick<Exchange, "wire">): boolean => wire === "messages"

/** Of a request that is not a client's own: a conversation. */
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
  // Which ids there are is not told to a key that may not use them.
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

/** By the resolution that is changed: what is worked out for a resolution is kept by it. */
const inBackground = new WeakMap<Resolution, Resolution>()

/** Hot: what a request made in the background leads to: the operator's model for them, where its caller may have that; else `found`. */
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
