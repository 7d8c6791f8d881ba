/** One team: its place, its limits with what is used of them, its members, settings, and the end of it. */
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import { teamsGet, teamsRemove, teamsUpdate } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { placeOf } from "../../../ui/address/places.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { visible } from "../../../ui/format.ts"
import { DangerButton } from "../../../ui/parts/DangerButton.tsx"
import { Facts } from "../../../ui/parts/Facts.tsx"
import { Meters } from "../../../ui/parts/Meters.tsx"
import { Time } from "../../../ui/Time.tsx"
import { toast } from "../../../ui/toasts.tsx"
import { words as all } from "../../../words/system/people.ts"
import { Body } from "../parts/Body.tsx"
import { Members } from "./Members.tsx"
import { Part, type Team, whole, without } from "./parts.tsx"

const words = all.teams
const everyMs = 30_000

/** Members of the schema that have a place of their own on the page. */
const elsewhere = ["members", "parent"]

const valuesOf = ({ budget, content, contentNotice, limits, models, name, rate }: Team): object => ({
  name,
  budget,
  models,
  limits,
  rate,
  content,
  contentNotice
})

const Settings = ({ team }: { readonly team: Team }) => (
  <Part title={words.settings}>
    <Body operation="teamsUpdate">
      {(schema) => (
        <ValuesForm
          schema={without(schema, elsewhere)}
          values={valuesOf(team)}
          whole={whole}
          stored={{
            call: teamsGet,
            asked: { path: { id: team.id } },
            of: (answer) => valuesOf((answer as AnswerOf<typeof teamsGet>).team)
          }}
          save={async (body, ifMatch) => {
            await teamsUpdate({ path: { id: team.id }, body: body as never, ifMatch })
            void refresh("teams")
          }}
        />
      )}
    </Body>
  </Part>
)

const Remove = ({ team: { id, name } }: { readonly team: Team }) => {
  const { route } = useLocation()
  return (
    <DangerButton
      verb={words.remove}
      title={words.removeTitle(visible(name))}
      means={words.removeMeans}
      name={name}
      run={async () => {
        await teamsRemove({ path: { id } })
        toast("good", words.removed)
        void refresh("teams")
        void refresh("users")
        route(placeOf("system/teams"))
      }}
    />
  )
}

export const TeamPage = ({ id }: { readonly id: string }) => {
  const one = useAnswer({
    key: ["teams", "one", id],
    ask: (signal) => teamsGet({ path: { id }, signal }),
    everyMs
  })
  return (
    <div class="stack">
      <p>
        <a href={placeOf("system/teams")}>{words.back}</a>
      </p>
      <Answered of={one} height={200}>
        {({ team }) => (
          <>
            <header class="area-head">
              <h2>{visible(team.name)}</h2>
              <Remove team={team} />
            </header>
            <Facts
              rows={[
                [words.about.rate, words.times(String(team.rate))],
                [
                  words.about.models,
                  team.models === null || team.models.length === 0 ? words.allModels : visible(team.models.join(", "))
                ],
                [words.about.added, <Time key="added" at={team.createdAt} />]
              ]}
            />
            <Part title={words.limits}>
              <Meters meters={team.meters} />
            </Part>
            <Members key={`members ${id}`} team={team} />
            <Settings key={id} team={team} />
          </>
        )}
      </Answered>
    </div>
  )
}
