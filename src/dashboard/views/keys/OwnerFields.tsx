/** The person and the team that a new key belongs to; nothing where there are neither. Who leads teams gives keys of those teams only. */
import type { Signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { teamsList, usersList } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { reachOf } from "../../api/rights.ts"
import { Pick } from "../../ui/parts/Entry.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/keys.ts"

const most = 1_000

interface Properties {
  readonly isOpen: boolean
  readonly userId: Signal<string>
  readonly teamId: Signal<string>
}

/** The owners as a new key has them; empty: none. */
export const ownersOf = (userId: string, teamId: string): { readonly userId?: string; readonly teamId?: string } => ({
  ...(userId === "" ? {} : { userId }),
  ...(teamId === "" ? {} : { teamId })
})

export const OwnerFields = ({ isOpen, teamId, userId }: Properties) => {
  const query = { limit: most }
  const users = useAnswer({ key: ["users", "all"], ask: (signal) => usersList({ query, signal }), when: isOpen })
  const teams = useAnswer({ key: ["teams", "all"], ask: (signal) => teamsList({ query, signal }), when: isOpen })
  const people = users.value.data?.users ?? []
  const all = teams.value.data?.teams ?? []
  const isLead = reachOf("giveKeys") === "team"
  const first = isLead ? all[0]?.id : undefined
  useEffect(() => {
    if (teamId.value === "" && first !== undefined) teamId.value = first
  }, [first, teamId])
  const of = all.find(({ id }) => id === teamId.value)
  // A key works for a team while its person is a member.
  const fitting = of === undefined ? people : people.filter(({ id }) => of.members.includes(id))
  const isFitting = userId.value === "" || fitting.some(({ id }) => id === userId.value)
  useEffect(() => {
    if (!isFitting) userId.value = ""
  }, [isFitting, userId])
  return (
    <>
      {all.length > 0 && (
        <Pick
          name={words.owner.team}
          value={teamId}
          hint={words.owner.hint}
          choices={[
            ...(isLead ? [] : [["", words.owner.noTeam] as const]),
            ...all.map(({ id, name }) => [id, visible(name)] as const)
          ]}
        />
      )}
      {fitting.length > 0 && (
        <Pick
          name={words.owner.person}
          value={userId}
          choices={[["", words.owner.nobody], ...fitting.map(({ id, name }) => [id, visible(name)] as const)]}
        />
      )}
    </>
  )
}
