/** Shows the people with their roles and teams; one person is behind the id. */
import { useSignal } from "@preact/signals"
import { useLocation, useRoute } from "preact-iso"
import { usersCreate } from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import { AddButton } from "../../../ui/AddButton.tsx"
import { placeOf } from "../../../ui/address/places.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { visible } from "../../../ui/format.ts"
import { opening } from "../../../ui/handlers.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Search } from "../../../ui/parts/Search.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { State } from "../../../ui/State.tsx"
import { words as all } from "../../../words/system/people.ts"
import { Head } from "../parts/Head.tsx"
import { Create, foundIn, type User, useTeams, useUsers } from "./parts.tsx"
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
  const { query } = useLocation()
  const search = query["q"] ?? ""
  const isAdding = useSignal(false)
  const list = useUsers()
  const teams = useTeams().value.data?.teams ?? []
  const namesOf = (ids: ReadonlyArray<string>): string =>
    teams.flatMap(({ id, name }) => (ids.includes(id) ? [name] : [])).join(", ")
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <AddButton opens={isAdding} label={words.add} />
      </Head>
      <Search label={words.search} />
      <Answered of={list} height={200}>
        {({ users }) => {
          const { more, shown } = foundIn(users, search, (user) => `${user.name} ${user.email} ${user.role}`)
          return shown.length === 0 ? (
            <Empty text={users.length === 0 ? words.none : words.noneFound} />
          ) : (
            <div class="card">
              <Table label={words.list} columns={words.columns}>
                {shown.map((user) => (
                  <Row key={user.id} user={user} teams={namesOf(user.teams)} />
                ))}
              </Table>
              {more > 0 && <p class="quiet">{all.more(more)}</p>}
            </div>
          )
        }}
      </Answered>
      <Create
        title={words.add}
        operation="usersCreate"
        {...opening(isAdding)}
        create={async (body) => {
          await usersCreate({ body: body as never })
          isAdding.value = false
          void refresh("users")
        }}
      />
    </div>
  )
}

export const People = () => {
  const { part } = useRoute().params
  return part === undefined ? <All /> : <PersonPage key={part} id={part} />
}
