/** Answers which accounts work, what is left of them, and which models they have. */
import { useCallback } from "preact/hooks"
import { useRoute } from "preact-iso"
import { providersList, usageQuotas } from "../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../api/queries.ts"
import { useFeed } from "../../live/feed.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { placeOf } from "../../ui/places.ts"
import { words } from "../../words/providers.ts"
import { Add } from "./Add.tsx"
import { Connections } from "./Connections.tsx"

const List = () => {
  const connections = useAnswer({ key: ["connections"], ask: (signal) => providersList({ signal }) })
  const quotas = useAnswer({ key: ["quotas"], ask: (signal) => usageQuotas({ signal }) })
  useFeed(
    "health",
    useCallback(() => void refresh("connections"), [])
  )
  return (
    <div class="stack">
      <header class="view-head">
        <h1>{words.title}</h1>
        <a class="button main-action" href={placeOf("providers/add")}>
          <Icon name="add" /> {words.add}
        </a>
      </header>
      <Answered of={connections} height={200}>
        {({ connections: all }) =>
          all.length === 0 ? (
            <div class="empty">
              <p>{words.none}</p>
            </div>
          ) : (
            <Connections connections={all} windows={quotas.value.data?.windows ?? []} />
          )
        }
      </Answered>
    </div>
  )
}

export const Providers = () => (useRoute().params["id"] === "add" ? <Add /> : <List />)
