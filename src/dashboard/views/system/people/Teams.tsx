/** Shows the teams with what is used of their limits; one team is behind its id. */
import { useRoute } from "preact-iso"
import { teamsCreate } from "../../../api/calls.generated.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { count, percent, visible } from "../../../ui/format.ts"
import { words as all } from "../../../words/system/people.ts"
import { Listing } from "./Listing.tsx"
import { type Team, useTeams } from "./parts.tsx"
import { TeamPage } from "./TeamPage.tsx"

const words = all.teams
/** Members, Used, Rate. */
const numbers = [2, 3, 4]

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

const All = () => (
  <Listing
    words={words}
    of={useTeams()}
    entriesOf={({ teams }) => teams}
    textOf={({ name }) => name}
    row={(team, teams) => (
      <Row key={team.id} team={team} parent={teams.find(({ id }) => id === team.parent)?.name ?? ""} />
    )}
    numbers={numbers}
    operation="teamsCreate"
    create={(body) => teamsCreate({ body: body as never })}
    changes="teams"
  />
)

export const Teams = () => {
  const { part } = useRoute().params
  return part === undefined ? <All /> : <TeamPage key={part} id={part} />
}
