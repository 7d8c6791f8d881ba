/** Shows the people with their roles and teams; one person is behind the id. */
import { useRoute } from "preact-iso"
import { usersCreate } from "../../../api/calls.generated.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { visible } from "../../../ui/format.ts"
import { State } from "../../../ui/State.tsx"
import { words as all } from "../../../words/system/people.ts"
import { Listing } from "./Listing.tsx"
import { type User, useTeams, useUsers } from "./parts.tsx"
import { PersonPage } from "./PersonPage.tsx"

const words = all.people

const Row = ({ teams, user: { email, id, name, role, source, state } }: { teams: string; user: User }) => (
  <tr>
    <th scope="row" class="wide-cell">
      <a href={placeOf(`system/people/${id}`)}>{visible(name)}</a>
      <br />
      <span class="quiet">{visible(email)}</span>
    </th>
    <td>{role}</td>
    <td class="wide-cell">{teams === "" ? <span class="quiet">{words.noTeam}</span> : visible(teams)}</td>
    <td>
      <State kind={state === "active" ? "good" : "warning"}>{all.states[state]}</State>
    </td>
    <td>{all.sources[source]}</td>
  </tr>
)

const All = () => {
  const list = useUsers()
  const teams = useTeams().value.data?.teams ?? []
  const namesOf = (ids: ReadonlyArray<string>): string =>
    teams.flatMap(({ id, name }) => (ids.includes(id) ? [name] : [])).join(", ")
  return (
    <Listing
      words={words}
      of={list}
      entriesOf={({ users }) => users}
      textOf={({ email, name, role }) => `${name} ${email} ${role}`}
      row={(user) => <Row key={user.id} user={user} teams={namesOf(user.teams)} />}
      operation="usersCreate"
      create={(body) => usersCreate({ body: body as never })}
      changes="users"
    />
  )
}

export const People = () => {
  const { part } = useRoute().params
  return part === undefined ? <All /> : <PersonPage key={part} id={part} />
}
