/** Shows what needs a person, the worst first, each with the buttons that mend it. What a button did is told at the edge of the page. */
import { useSignal } from "@preact/signals"
import { useCallback } from "preact/hooks"
import type { ApiError } from "../../api/ApiError.ts"
import type { AnswerOf } from "../../api/client.ts"
import { gatewayUrl } from "../../api/client.ts"
import { attentionList } from "../../api/calls.generated.ts"
import { queries, refresh, useAnswer } from "../../api/queries.ts"
import { send } from "../../forms/send.ts"
import { useFeed } from "../../live/feed.ts"
import { Answered } from "../../ui/Answered.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { visible } from "../../ui/format.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/home.ts"

type Item = AnswerOf<typeof attentionList>["items"][number]
type Action = Item["actions"][number]

const mostShown = 8

/** Actions that only show something are links of other views; here are those that change something. */
const mending = ({ method }: Action): boolean => method !== "GET"

const Button = ({ action, item }: { readonly action: Action; readonly item: Item }) => {
  const isBusy = useSignal(false)
  const run = async (): Promise<void> => {
    isBusy.value = true
    try {
      await send(action.method, new URL(action.path.slice(1), gatewayUrl).href, action.body)
      toast("good", words.attention.done(action.label, item.subject.name))
      void queries.invalidateQueries()
    } catch (error) {
      toast("bad", (error as ApiError).message)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <button
      type="button"
      class={action.method === "DELETE" ? "button danger" : "button"}
      disabled={isBusy.value}
      onClick={() => void run()}
    >
      {action.label}
    </button>
  )
}

const Row = ({ item }: { readonly item: Item }) => (
  <li>
    <State kind={item.severity === "error" ? "bad" : "warning"}>
      <strong>{visible(item.subject.name)}</strong>
    </State>
    <span class="grow">
      {visible(item.text)} {item.since !== null && <Time at={item.since} />}
    </span>
    <span class="buttons">
      {item.actions.filter(mending).map((action) => (
        <Button key={`${action.method} ${action.path}`} action={action} item={item} />
      ))}
    </span>
  </li>
)

export const Attention = () => {
  const attention = useAnswer({ key: ["attention"], ask: (signal) => attentionList({ signal }) })
  useFeed(
    "attention",
    useCallback(() => void refresh("attention"), [])
  )
  return (
    <section class="card attention" aria-labelledby="attention">
      <Answered of={attention} height={64}>
        {({ items, total }) => (
          <>
            <h2 id="attention">{total === 0 ? words.attention.nothing : words.attention.title(total)}</h2>
            {total === 0 ? (
              <State kind="good">{words.attention.well}</State>
            ) : (
              <ul>
                {items.slice(0, mostShown).map((item) => (
                  <Row key={item.id} item={item} />
                ))}
              </ul>
            )}
            {total > mostShown && <p class="quiet">{words.attention.more(total - mostShown)}</p>}
          </>
        )}
      </Answered>
    </section>
  )
}
