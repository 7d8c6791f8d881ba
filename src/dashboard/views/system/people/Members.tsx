/** The people in a team and the team above it; each change can be taken back. */
import { useSignal } from "@preact/signals"
import { teamsGet, teamsUpdate } from "../../../api/calls.generated.ts"
import { sendOver } from "../../../ui/merge/resend.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { visible } from "../../../ui/format.ts"
import { submitting } from "../../../ui/handlers.ts"
import { Pick } from "../../../ui/parts/Entry.tsx"
import { toast } from "../../../ui/toasts.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { words as parts } from "../../../words/parts.ts"
import { words as all } from "../../../words/system/people.ts"
import { Part, type Team, type User, useTeams, useUsers } from "./parts.tsx"

const words = all.teams

/** Changes the members as they are stored now: those that another has changed meanwhile stay. */
const change = async (id: string, by: (members: ReadonlyArray<string>) => ReadonlyArray<string>): Promise<void> => {
  const path = { id }
  const { answer, tag } = await teamsGet.versioned({ path })
  let { members } = answer.team
  await sendOver(
    tag ?? undefined,
    (ifMatch) => teamsUpdate({ path, body: { members: by(members) }, ifMatch }),
    (current) => {
      members = (current as typeof answer).team.members
      return true
    }
  )
}

const withOne = (id: string) => (members: ReadonlyArray<string>) => [...members.filter((one) => one !== id), id]
const withoutOne = (id: string) => (members: ReadonlyArray<string>) => members.filter((one) => one !== id)

const List = ({ team, users }: { readonly team: Team; readonly users: ReadonlyArray<User> }) => {
  const { isBusy, run } = useWork(["teams", "users"])
  if (team.members.length === 0) return <p class="quiet">{words.noMembers}</p>
  const takeOut = async (id: string, name: string): Promise<void> => {
    if (!(await run(() => change(team.id, withoutOne(id))))) return
    toast("good", words.memberRemoved(name), {
      label: parts.undo,
      run: () => void run(() => change(team.id, withOne(id)))
    })
  }
  return (
    <ul class="stack plain">
      {team.members.map((id) => {
        const name = visible(users.find((user) => user.id === id)?.name ?? id)
        return (
          <li key={id} class="buttons">
            <a href={placeOf(`system/people/${id}`)}>{name}</a>
            <button
              type="button"
              class="button"
              disabled={isBusy.value}
              aria-label={words.removeMember(name)}
              onClick={() => void takeOut(id, name)}
            >
              {words.takeOut}
            </button>
          </li>
        )
      })}
    </ul>
  )
}

const Add = ({ team, users }: { readonly team: Team; readonly users: ReadonlyArray<User> }) => {
  const chosen = useSignal("")
  const { isBusy, run } = useWork(["teams", "users"])
  const others = users.filter(({ id }) => !team.members.includes(id))
  const person = others.find(({ id }) => id === chosen.value)
  if (others.length === 0) return null
  const add = async (): Promise<void> => {
    if (person === undefined) return
    const isDone = await run(() => change(team.id, withOne(person.id)), words.memberAdded(visible(person.name)))
    if (isDone) chosen.value = ""
  }
  return (
    <form class="inline-form" onSubmit={submitting(add)}>
      <Pick
        name={words.person}
        value={chosen}
        choices={[["", words.choose], ...others.map(({ id, name }) => [id, visible(name)] as const)]}
      />
      <button type="submit" class="button" disabled={isBusy.value || person === undefined}>
        {words.addMember}
      </button>
    </form>
  )
}

/** Says which team is above; the gateway refuses circles and a fifth level. */
const Above = ({ team }: { readonly team: Team }) => {
  const teams = useTeams().value.data?.teams ?? []
  const { isBusy, run } = useWork(["teams"])
  const move = async (parent: string | null): Promise<void> => {
    const before = team.parent
    const set = (to: string | null) => teamsUpdate({ path: { id: team.id }, body: { parent: to } })
    if (!(await run(() => set(parent)))) return
    toast("good", words.moved, { label: parts.undo, run: () => void run(() => set(before)) })
  }
  return (
    <div class="field">
      <label for="team-above">{words.parent}</label>
      <select
        id="team-above"
        class="input"
        disabled={isBusy.value}
        value={team.parent ?? ""}
        onChange={({ currentTarget: { value } }) => void move(value === "" ? null : value)}
      >
        <option value="">{words.noParent}</option>
        {teams
          .filter(({ id }) => id !== team.id)
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {visible(name)}
            </option>
          ))}
      </select>
    </div>
  )
}

export const Members = ({ team }: { readonly team: Team }) => {
  const users = useUsers().value.data?.users ?? []
  return (
    <Part title={words.members}>
      <p class="quiet">{words.memberCount(team.members.length)}</p>
      <List team={team} users={users} />
      <Add team={team} users={users} />
      <Above team={team} />
    </Part>
  )
}
