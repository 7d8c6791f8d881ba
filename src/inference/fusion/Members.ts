/** Who sits on a panel: the models of the combo, each once however many accounts can serve it. Pure. */
import type { Combo } from "../../domain/Combo.ts"
import type { Target } from "../../routing/ModelResolver.ts"

/** One model of the panel: its accounts, the one to ask first in front. Never empty. */
export type Member = ReadonlyArray<Target>

/**
 * Accounts of one model are alternatives of each other, unless a step of the combo names an account: then that is a member of
 * its own.
 */
export const membersOf = (combo: Combo | null, order: ReadonlyArray<Target>): ReadonlyArray<Member> => {
  const named = new Set((combo?.targets ?? []).flatMap(({ connectionId }) => connectionId ?? []))
  const members = new Map<string, Array<Target>>()
  for (const target of order) {
    const { account, model, suppressReasoning } = target
    const { id } = account.connection
    const key = JSON.stringify([account.spec.id, model, suppressReasoning, named.has(id) ? id : null])
    const member = members.get(key)
    if (member === undefined) members.set(key, [target])
    else member.push(target)
  }
  return [...members.values()]
}
