/** One person: role, teams, limits with what is used of them, settings, and the end of it. */
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import { usersGet, usersRemove, usersUpdate } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { placeOf } from "../../../ui/address/places.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { visible } from "../../../ui/format.ts"
import { DangerButton } from "../../../ui/parts/DangerButton.tsx"
import { Facts } from "../../../ui/parts/Facts.tsx"
import { Meters } from "../../../ui/parts/Meters.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { toast } from "../../../ui/toasts.tsx"
import { switchWith, useWork } from "../../../ui/useWork.ts"
import { words as all } from "../../../words/system/people.ts"
import { Body } from "../parts/Body.tsx"
import { Part, type User, useTeams, whole } from "./parts.tsx"

const words = all.people
const everyMs = 30_000

const Actions = ({ user: { id, name, state } }: { readonly user: User }) => {
  const { route } = useLocation()
  const work = useWork(["users"])
  const isActive = state === "active"
  const set = (isOn: boolean) => usersUpdate({ path: { id }, body: { state: isOn ? "active" : "suspended" } })
  const said = { on: words.resumed, off: words.suspended }
  return (
    <span class="buttons">
      <button
        type="button"
        class="button"
        disabled={work.isBusy.value}
        onClick={() => void switchWith(work, isActive, set, said)}
      >
        {isActive ? words.suspend : words.resume}
      </button>
      <DangerButton
        verb={words.remove}
        title={words.removeTitle(visible(name))}
        means={words.removeMeans}
        name={name}
        run={async () => {
          await usersRemove({ path: { id } })
          toast("good", words.removed)
          void refresh("users")
          void refresh("teams")
          route(placeOf("system/people"))
        }}
      />
    </span>
  )
}

const TeamLinks = ({ ids }: { readonly ids: ReadonlyArray<string> }) => {
  const teams = useTeams().value.data?.teams ?? []
  if (ids.length === 0) return <>{words.noTeam}</>
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <a href={placeOf(`system/teams/${id}`)}>{visible(teams.find((team) => team.id === id)?.name ?? id)}</a>
        </span>
      ))}
    </>
  )
}

const About = ({ user: { createdAt, email, role, source, state, teams } }: { readonly user: User }) => (
  <Facts
    rows={[
      [words.about.email, visible(email)],
      [words.about.role, role],
      [words.about.teams, <TeamLinks key="teams" ids={teams} />],
      [
        words.about.state,
        <State key="state" kind={state === "active" ? "good" : "warning"}>
          {all.states[state]}
        </State>
      ],
      [words.about.source, all.sources[source]],
      [words.about.added, <Time key="added" at={createdAt} />]
    ]}
  />
)

const valuesOf = ({ budget, email, limits, name, role, state }: User): object => ({
  name,
  email,
  role,
  state,
  budget,
  limits
})

const Settings = ({ user }: { readonly user: User }) => (
  <Part title={words.settings}>
    {user.source !== "local" && <p class="quiet">{words.fromDirectory}</p>}
    <Body operation="usersUpdate">
      {(schema) => (
        <ValuesForm
          schema={schema}
          values={valuesOf(user)}
          whole={whole}
          stored={{
            call: usersGet,
            asked: { path: { id: user.id } },
            of: (answer) => valuesOf((answer as AnswerOf<typeof usersGet>).user)
          }}
          save={async (body, ifMatch) => {
            await usersUpdate({ path: { id: user.id }, body: body as never, ifMatch })
            void refresh("users")
          }}
        />
      )}
    </Body>
  </Part>
)

export const PersonPage = ({ id }: { readonly id: string }) => {
  const one = useAnswer({
    key: ["users", "one", id],
    ask: (signal) => usersGet({ path: { id }, signal }),
    everyMs
  })
  return (
    <div class="stack">
      <p>
        <a href={placeOf("system/people")}>{words.back}</a>
      </p>
      <Answered of={one} height={200}>
        {({ user }) => (
          <>
            <header class="area-head">
              <h2>{visible(user.name)}</h2>
              <Actions user={user} />
            </header>
            <About user={user} />
            <Part title={words.limits}>
              <Meters meters={user.meters} />
            </Part>
            <Settings key={id} user={user} />
          </>
        )}
      </Answered>
    </div>
  )
}
