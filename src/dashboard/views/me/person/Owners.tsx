/** The limits of the person and of the person's teams, with what is used of them. */
import { teamsList, usersGet } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { type Meter, Meters } from "../../../ui/parts/Meters.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/person.ts"

const everyMs = 30_000

interface Shown {
  readonly name: string
  readonly about: string
  readonly meters: ReadonlyArray<Meter>
  /** Sentence on who sees prompts and answers; null: it is no team. */
  readonly notice: string | null
}

const Card = ({ about, meters, name, notice }: Shown) => (
  <section class="card" aria-label={name}>
    <h2>{visible(name)}</h2>
    <p class="quiet">{visible(about)}</p>
    <Meters meters={meters} />
    {notice !== null && <p class="quiet">{visible(notice)}</p>}
  </section>
)

export const Owners = ({ userId }: { readonly userId: string }) => {
  const user = useAnswer({
    key: ["users", "one", userId],
    ask: (signal) => usersGet({ path: { id: userId }, signal }),
    everyMs
  })
  const teams = useAnswer({ key: ["teams", "own"], ask: (signal) => teamsList({ signal }), everyMs })
  return (
    <div class="own-limits">
      <Answered of={user} height={96}>
        {({ user: { email, meters } }) => <Card name={words.you} about={email} meters={meters} notice={null} />}
      </Answered>
      <Answered of={teams} height={96}>
        {({ teams: all }) =>
          all
            .filter(({ members }) => members.includes(userId))
            .map(({ id, meters, models, name, notice }) => (
              <Card
                key={id}
                name={name}
                about={models === null || models.length === 0 ? words.allModels : words.onlyModels(models.join(", "))}
                meters={meters}
                notice={notice}
              />
            ))
        }
      </Answered>
    </div>
  )
}
