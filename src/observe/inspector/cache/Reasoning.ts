/**
 * Reasoning of old turns is dropped, by the client or by the provider as soon as the user writes again; what comes behind it is then read anew,
 * as documented (https://platform.claude.com/docs/en/build-with-claude/extended-thinking). That is no break. Pure.
 */
import type { Prompt } from "../prompt/Prompt.ts"
import type { KnownPrompt } from "./KnownCall.ts"

/** Parts up to the first reasoning of the earlier call that this one is without; `Infinity` when it has all. */
export const keptBeforeReasoning = (earlier: KnownPrompt, { lastUser, reasoning }: Prompt): number => {
  const first = earlier.reasoning.find(({ hash }, at) => reasoning[at]?.hash !== hash)
  // After a new turn of the user, the reasoning since the turn before goes.
  const stripped =
    lastUser > earlier.end.depth ? earlier.reasoning.find(({ before }) => before >= earlier.lastUser) : undefined
  return Math.min(first?.before ?? Number.POSITIVE_INFINITY, stripped?.before ?? Number.POSITIVE_INFINITY)
}
