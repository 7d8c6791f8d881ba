/** Models that take no system message between turns. Pure. */
import type { Resolution, Target } from "../../routing/resolve/ModelResolver.ts"

const models = /(?:^|\/)(?:o1|glm)(?![a-z])/i
const providers: ReadonlySet<string> = new Set(["glm", "glm-cn", "qianfan", "zai", "zai-paas", "zhipu"])

const isSuch = ({ account, model }: Target): boolean => providers.has(account.spec.id) || models.test(model)

const known = new WeakMap<Resolution, boolean>()

/**
 * Checks whether any target of the request is such a model: then all get it in a user message, so that the request is the same whichever of
 * them is asked.
 */
export const takesNoSystemBetween = (resolution: Resolution): boolean => {
  const before = known.get(resolution)
  if (before !== undefined) return before
  const isAny = resolution.targets.some(isSuch)
  known.set(resolution, isAny)
  return isAny
}
