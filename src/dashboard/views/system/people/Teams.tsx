/** Shows the teams with what is used of their limits; one team is behind its id. */
import { useSignal } from "@preact/signals"
import { useLocation, useRoute } from "preact-iso"
import { teamsCreate } from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import { AddButton } from "../../../ui/AddButton.tsx"
import { placeOf } from "../../../ui/address/places.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { count, percent, visible } from "../../../ui/format.ts"
import { opening } from "../../../ui/handlers.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Search } from "../../../ui/parts/Search.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { words as all } from "../../../words/system/people.ts"
import { Head } from "../parts/Head.tsx"
import { Create, foundIn, type Team, useTeams } from "./parts.tsx"
import { TeamPage } from "./TeamPage.tsx"

const words = all.teams

/** Part of the limit that is used the most. */
const usedOf = ({ meters }: Team): string => {
  const parts = meters.flatMap(({ limit, used }) => (limit > 0 ? [used / limit] : []))
  return parts.length === 0 ? all.noLimit : percent(Math.max(...parts))
}

const Row = ({ parent, team }: { readonly team: Team; readonly parent: string }) => (
  <tr>
    <th scope="row" class="wide-cell">
      <a href={placeOf(`system/teams/${team.id}`)}>{visible(team.name)}</a>
    </th>
    <td>{parent === "" ? "–" : visible(parent)}</td>
    <td class="number">{count(team.members.length)}</td>
    <td class="number">{usedOf(team)}</td>
    <td class="number">{words.times(String(team.rate))}</td>
  </tr>
)

const All = () => {
  const { query } = useLocation()
  const search = query["q"] ?? ""
  const isAdding = useSignal(false)
  const list = useTeams()
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <AddButton opens={isAdding} label={words.add} />
      </Head>
      <Search label={words.search} />
      <Answered of={list} height={200}>
        {({ teams }) => {
          const { more, shown } = foundIn(teams, search, (team) => team.name)
          return shown.length === 0 ? (
            <Empty text={teams.length === 0 ? words.none : words.noneFound} />
          ) : (
            <div class="card">
              <Table label={words.list} columns={words.columns} numbers={[2, 3, 4]}>
                {shown.map((team) => (
                  <Row key={team.id} team={team} parent={teams.find(({ id }) => id === team.parent)?.name ?? ""} />
                ))}
              </Table>
              {more > 0 && <p class="quiet">{all.more(more)}</p>}
            </div>
          )
        }}
      </Answered>
      <Create
        title={words.add}
        operation="teamsCreate"
        {...opening(isAdding)}
        create={async (body) => {
          await teamsCreate({ body: body as never })
          isAdding.value = false
          void refresh("teams")
        }}
      />
    </div>
  )
}

export const Teams = () => {
  const { part } = useRoute().params
  return part === undefined ? <All /> : <TeamPage key={part} id={part} />
}
