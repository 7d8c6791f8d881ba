/** Shows the facts of an account: its key masked, its address, its sign-in, and where it comes from. */
import { Facts as Rows } from "../../../ui/parts/Facts.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, nowMs, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/account.ts"
import type { Connection } from "../names.ts"

const SignInState = ({ connection: { id, signIn } }: { readonly connection: Connection }) => {
  if (signIn === null) return null
  const { expiresAt, isRenewed } = signIn
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= nowMs()
  return (
    <span class="sign-in-state">
      <State kind={isRenewed ? "good" : isOver ? "bad" : "warning"}>
        <span>
          {isRenewed ? words.signIn.renewed : isOver ? words.signIn.over : words.signIn.manual}
          {expiresAt === null ? (
            `, ${words.signIn.unknown}`
          ) : (
            <>
              {isOver ? " " : `, ${words.signIn.until} `}
              <Time at={expiresAt} />
            </>
          )}
        </span>
      </State>{" "}
      <a href={placeOf(`providers/${encodeURIComponent(id)}/sign-in`)}>{words.signIn.again}</a>
    </span>
  )
}

export const Facts = ({ connection }: { readonly connection: Connection }) => {
  const { apiKey, baseUrl, createdAt, id, maxConcurrent, priority, provider, signIn, source, tier, updatedAt } =
    connection
  const { facts } = words
  return (
    <section class="card" aria-labelledby="facts">
      <h2 id="facts">{facts.title}</h2>
      <Rows
        rows={[
          [facts.provider, visible(provider)],
          ...(signIn === null
            ? ([[facts.key, apiKey === null ? facts.noKey : <code key="key">{visible(apiKey)}</code>]] as const)
            : ([[facts.signIn, <SignInState key="sign-in" connection={connection} />]] as const)),
          [facts.address, baseUrl === null ? facts.usualAddress : <code key="url">{visible(baseUrl)}</code>],
          [facts.priority, `${priority} (${facts.priorityHint})`],
          [facts.most, maxConcurrent === null ? facts.noLimit : count(maxConcurrent)],
          ...(tier === null ? [] : ([[facts.tier, tier]] as const)),
          ...(source === "env"
            ? ([[facts.source, facts.env]] as const)
            : ([
                [facts.made, <Time key="made" at={createdAt} />],
                [facts.changed, <Time key="changed" at={updatedAt} />]
              ] as const)),
          [facts.id, <code key="id">{visible(id)}</code>]
        ]}
      />
    </section>
  )
}
