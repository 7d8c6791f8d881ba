/** Shows the keys with their budgets, and which budgets will be used up next. */
import { useSignal } from "@preact/signals"
import { useCallback } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { keysList, limitsBudget } from "../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../api/queries.ts"
import { useFeed } from "../../live/feed.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { words } from "../../words/keys.ts"
import { CreateKey } from "./CreateKey.tsx"
import { type Budget, KeyRow } from "./KeyRow.tsx"
import { Month } from "./Month.tsx"

/** The budget of a key among all of them. */
const budgetOf = (answer: AnswerOf<typeof limitsBudget> | undefined, keyId: string): Budget | undefined =>
  answer !== undefined && "budgets" in answer ? answer.budgets.find(({ apiKeyId }) => apiKeyId === keyId) : undefined

export const Keys = () => {
  const keys = useAnswer({ key: ["keys"], ask: (signal) => keysList({ signal }) })
  const budgets = useAnswer({ key: ["budgets"], ask: (signal) => limitsBudget({ signal }) })
  const isCreating = useSignal(false)
  useFeed(
    "budget",
    useCallback(() => void refresh("budgets"), [])
  )
  return (
    <div class="stack">
      <header class="view-head">
        <h1>{words.title}</h1>
        <button
          type="button"
          class="button main-action"
          onClick={() => {
            isCreating.value = true
          }}
        >
          <Icon name="add" /> {words.create}
        </button>
      </header>
      <Answered of={keys} height={200}>
        {({ keys: all }) =>
          all.length === 0 ? (
            <div class="empty">
              <p>{words.none}</p>
            </div>
          ) : (
            <div class="scroller card" tabIndex={0} role="region" aria-label={words.list}>
              <table class="plain-table">
                <thead>
                  <tr>
                    <th>{words.columns.key}</th>
                    <th>{words.columns.state}</th>
                    <th class="number">{words.columns.spent}</th>
                    <th>{words.columns.limit}</th>
                    <th>{words.columns.pace}</th>
                    <th>{words.columns.last}</th>
                    <th>{words.columns.actions}</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((key) => (
                    <KeyRow key={key.id} apiKey={key} budget={budgetOf(budgets.value.data, key.id)} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answered>
      <Month />
      <CreateKey
        isOpen={isCreating.value}
        onClose={() => {
          isCreating.value = false
        }}
      />
    </div>
  )
}
