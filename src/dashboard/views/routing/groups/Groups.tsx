/** Shows who gets what share of connections' quota: the quota groups, and the editor of one. */
import { useRoute } from "preact-iso"
import { keysList, providersList, quotaGroupsList } from "../../../api/calls.generated.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Icon } from "../../../ui/Icon.tsx"
import { percent, short, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/routingParts.ts"
import { EditGroup, NewGroup } from "./Group.tsx"
import type { Names } from "./names.ts"

type Group = AnswerOf<typeof quotaGroupsList>["groups"][number]
type Quota = Group["allocations"][number]["quotas"][number]

const useNames = (): Names => {
  const connections = useAnswer({
    key: ["connections", "summary"],
    ask: (signal) => providersList({ query: { view: "summary" }, signal })
  })
  const keys = useAnswer({
    key: ["keys", "summary"],
    ask: (signal) => keysList({ query: { view: "summary" }, signal })
  })
  return {
    connections: new Map(
      (connections.value.data?.connections ?? []).map(({ id, name, provider }) => [id, `${provider} / ${name}`])
    ),
    keys: new Map((keys.value.data?.keys ?? []).map(({ id, name }) => [id, name]))
  }
}

interface ShareProperties {
  readonly name: string
  readonly share: number
  readonly quotas: ReadonlyArray<Quota>
}

const Share = ({ name, quotas, share }: ShareProperties) => (
  <li class="share">
    <span>{visible(name)}</span>
    <meter min={0} max={1} value={share} aria-label={words.groups.share} />
    <span>{percent(share)}</span>
    {quotas.map(({ limit, provider, unit, used, window }) => (
      <span key={`${provider} ${window} ${unit}`} class="quiet">
        {visible(provider)}: {words.groups.used(short(used), short(limit), unit, window)}
      </span>
    ))}
  </li>
)

const sharesOf = <A extends { readonly weight: number }>(items: ReadonlyArray<A>) => {
  const sum = items.reduce((total, { weight }) => total + weight, 0)
  return items.map((item) => ({ item, share: sum === 0 ? 0 : item.weight / sum }))
}

const GroupCard = ({ group, names }: { readonly group: Group; readonly names: Names }) => (
  <section class="card stack" aria-label={group.name}>
    <header class="view-head">
      <h2>
        <a href={placeOf(`routing/groups/${encodeURIComponent(group.id)}`)}>{visible(group.name)}</a>
      </h2>
      <code class="quiet">qtSd/{visible(group.name)}/…</code>
    </header>
    <div class="two">
      <div>
        <h3>{words.groups.members}</h3>
        <ul>
          {sharesOf(group.members).map(({ item, share }) => (
            <Share
              key={item.connectionId}
              name={names.connections.get(item.connectionId) ?? item.connectionId}
              share={share}
              quotas={[]}
            />
          ))}
        </ul>
      </div>
      <div>
        <h3>{words.groups.keys}</h3>
        {group.allocations.length === 0 && (
          <p class="quiet">{group.restricted ? words.groups.closed : words.groups.everybody}</p>
        )}
        <ul>
          {sharesOf(group.allocations).map(({ item, share }) => (
            <Share
              key={item.apiKeyId}
              name={names.keys.get(item.apiKeyId) ?? item.apiKeyId}
              share={share}
              quotas={item.quotas}
            />
          ))}
        </ul>
      </div>
    </div>
  </section>
)

const everyMs = 30_000
const pageSize = 100

export const Groups = () => {
  const { part } = useRoute().params
  const names = useNames()
  const groups = useAnswer({
    key: ["quotaGroups"],
    ask: (signal) => quotaGroupsList({ query: { limit: pageSize }, signal }),
    everyMs,
    when: part === undefined
  })
  if (part === "new") return <NewGroup names={names} />
  if (part !== undefined) return <EditGroup key={part} id={part} names={names} />
  return (
    <>
      <div class="bar-of-list">
        <p class="quiet">{words.groups.hint}</p>
        <a class="button main-action" href={placeOf("routing/groups/new")}>
          <Icon name="add" /> {words.groups.create}
        </a>
      </div>
      <Answered of={groups} height={240}>
        {({ groups: all }) =>
          all.length === 0 ? (
            <div class="empty">
              <p>{words.groups.none}</p>
            </div>
          ) : (
            <>
              {all.map((group) => (
                <GroupCard key={group.id} group={group} names={names} />
              ))}
            </>
          )
        }
      </Answered>
    </>
  )
}
