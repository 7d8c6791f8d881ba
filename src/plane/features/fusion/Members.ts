/** The members of a panel: the models of the combo, each once however many accounts can serve it. Pure. */
import { parseAutoId } from "../../routing/resolve/AutoId.ts"
import type { Resolution, Target } from "../../routing/resolve/ModelResolver.ts"

/** One model of the panel: its accounts, the one to ask first in front. Never empty. */
export type Member = ReadonlyArray<Target>

/**
 * Accounts of one model are alternatives of each other, unless a step of the combo names an account: then that is a member of
 * its own. An automatic id is one member too, whatever it can choose from.
 */
export const membersOf = (
  { combo, steps, targets }: Pick<Resolution, "combo" | "steps" | "targets">,
  isUsable: (target: Target) => boolean
): ReadonlyArray<Member> => {
  const named = new Set((combo?.targets ?? []).flatMap(({ connectionId }) => connectionId ?? []))
  const automatic = (combo?.targets ?? []).map(({ model }) => parseAutoId(model) !== null)
  const members = new Map<string, Array<Target>>()
  for (const [index, target] of targets.entries()) {
    if (!isUsable(target)) continue
    const { account, model, suppressReasoning } = target
    const { id } = account.connection
    const step = steps[index] ?? 0
    const key = automatic[step]
      ? JSON.stringify(step)
      : JSON.stringify([account.spec.id, model, suppressReasoning, named.has(id) ? id : null])
    const member = members.get(key)
    if (member === undefined) members.set(key, [target])
    else member.push(target)
  }
  return [...members.values()]
}
