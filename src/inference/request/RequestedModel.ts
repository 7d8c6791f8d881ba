/** What a caller's model id leads to, for those whose key may ask for it: judged by the id itself, and by what stands in for it. */
import type { Principal } from "../../domain/ApiKey.ts"
import { KeyRejected, type ModelNotFound, type NoTarget } from "../../domain/Errors.ts"
import { mayUse } from "../../routing/resolve/ModelIds.ts"
import type { Resolution } from "../../routing/resolve/ModelResolver.ts"
import type * as Resolutions from "../../routing/resolve/Resolutions.ts"

export const resolveFor = (
  resolutions: typeof Resolutions.Resolutions.Service,
  principal: Principal,
  model: string
): Resolution | ModelNotFound | NoTarget | KeyRejected => {
  const key = principal._tag === "Key" ? principal.key : null
  if (key !== null && !mayUse(key, model)) return new KeyRejected({ reason: "model", model })
  const resolution = resolutions.requested(model)
  if (key === null || "_tag" in resolution || resolution.fallbackModel === undefined) return resolution
  const { fallbackModel } = resolution
  return mayUse(key, fallbackModel)
    ? resolution
    : new KeyRejected({ reason: "model", model: fallbackModel, requested: model })
}
