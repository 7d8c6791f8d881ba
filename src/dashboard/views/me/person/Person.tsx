/** Answers a person who has signed in: the own keys, what they and the person's teams may use and have used, the last requests, and how tools are set up. */
import { keysList } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { signedIn } from "../../../api/rights.ts"
import { useFeed } from "../../../live/feed.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { visible } from "../../../ui/format.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { words } from "../../../words/person.ts"
import { OwnKeys } from "./OwnKeys.tsx"
import { Owners } from "./Owners.tsx"
import { SetUp } from "./SetUp.tsx"
import { LastRequests, SpendByDay } from "./Usage.tsx"

const mostKeys = 200
/** Answers that a request of the person changes. */
const changing = ["person", "users", "teams"] as const
/** Time between two askings, however many requests there are. */
const renewEveryMs = 1_000

let renewedAt = 0
let timer: number | undefined

const renew = (): void => {
  timer = undefined
  renewedAt = performance.now()
  for (const key of changing) void refresh(key)
}

/** A request of the person has ended. */
const onRequest = ({ event }: { readonly event: string }): void => {
  if (!/^request\.(?:completed|failed|aborted)$/.test(event)) return
  timer ??= globalThis.setTimeout(renew, Math.max(0, renewedAt + renewEveryMs - performance.now()))
}

export const Person = () => {
  const person = signedIn()
  const userId = person?.id ?? ""
  useFeed("requests", onRequest)
  const keys = useAnswer({
    key: ["keys", "own", userId],
    ask: async (signal) => {
      const { keys: all } = await keysList({ query: { limit: mostKeys }, signal })
      // Who leads a team may see those of others, too.
      return all.filter((key) => key.userId === userId)
    }
  })
  return (
    <div class="own-view stack">
      <header class="view-head">
        <h1>{visible(person?.name ?? words.title)}</h1>
        {person !== null && <span class="quiet">{words.role(person.role ?? "")}</span>}
      </header>
      <Owners userId={userId} />
      <section class="card stack" aria-labelledby="person-keys">
        <h2 id="person-keys">{words.keys}</h2>
        <Answered of={keys} height={96}>
          {(own) => (own.length === 0 ? <Empty text={words.noKey} /> : <OwnKeys keys={own} />)}
        </Answered>
      </section>
      <SpendByDay />
      <LastRequests />
      <Answered of={keys} height={160}>
        {(own) => <SetUp keys={own.filter(({ isActive }) => isActive)} />}
      </Answered>
    </div>
  )
}
