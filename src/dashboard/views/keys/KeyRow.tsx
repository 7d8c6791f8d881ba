/** One key: whether it works, what it has spent of its budget, when it will be stopped, and what can be done at once. */
import type { AnswerOf } from "../../api/client.ts"
import type { keysList } from "../../api/calls.generated.ts"
import { reachOf } from "../../api/rights.ts"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { money, nowMs, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/keys.ts"
import { raise, type Standing, tightest } from "./budgets.ts"
import { raisedLimit } from "./money/period.ts"
import { PaceBar, Stopped } from "./Pace.tsx"
import { switchKey } from "./switching.ts"

export type ApiKey = Pick<
  AnswerOf<typeof keysList>["keys"][number],
  "id" | "name" | "prefix" | "isActive" | "expiresAt" | "lastUsedAt"
>

export const KeyState = ({ apiKey: { expiresAt, isActive } }: { readonly apiKey: ApiKey }) => {
  if (!isActive) return <State kind="quiet">{words.paused}</State>
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs()) return <State kind="warning">{words.expired}</State>
  return <State kind="good">{words.active}</State>
}

const BudgetCells = ({ spentUsd, standing }: Pick<Properties, "spentUsd" | "standing">) => {
  const window = standing === undefined ? undefined : tightest(standing)
  if (window === undefined) {
    return (
      <>
        <td class="number">
          {spentUsd === null ? (
            <span class="quiet">–</span>
          ) : (
            <>
              {money(spentUsd)} <span class="quiet">{words.spentIn.monthly}</span>
            </>
          )}
        </td>
        <td class="quiet">{words.noLimit}</td>
        <td class="quiet">–</td>
      </>
    )
  }
  return (
    <>
      <td class="number">
        {money(window.spentUsd)}{" "}
        <span class="quiet">{words.ofLimit(money(window.limitUsd), words.intervals[window.interval])}</span>
      </td>
      <td>
        <PaceBar window={window} />
      </td>
      <td>
        <Stopped window={window} />
      </td>
    </>
  )
}

/** The buttons of a key; the state of what they do is seen in its row. */
export const KeyActions = ({ apiKey, standing }: Pick<Properties, "apiKey" | "standing">) => {
  const { isBusy, run } = useWork([])
  const window = standing === undefined ? undefined : tightest(standing)
  return (
    <span class="buttons nowrap">
      {reachOf("setLimits") === "none" ? null : window === undefined ? (
        <a class="button" href={placeOf(`keys/${encodeURIComponent(apiKey.id)}/limits`)}>
          {words.setBudget}
        </a>
      ) : (
        <button
          key="raise"
          type="button"
          class="button"
          disabled={isBusy.value}
          onClick={() => void run(() => raise(apiKey, window.interval))}
        >
          {words.raise(money(raisedLimit(window.limitUsd)))}
        </button>
      )}
      {reachOf("giveKeys") !== "none" && (
        <button
          key="switch"
          type="button"
          class="button"
          disabled={isBusy.value}
          onClick={() => void run(() => switchKey(apiKey, !apiKey.isActive))}
        >
          {apiKey.isActive ? words.pause : words.resume}
        </button>
      )}
    </span>
  )
}

interface Properties {
  readonly apiKey: ApiKey
  readonly standing: Standing | undefined
  /** Its cost of this month; null: not known yet, or nothing. */
  readonly spentUsd: number | null
}

export const KeyRow = ({ apiKey, spentUsd, standing }: Properties) => (
  <tr>
    <th scope="row">
      <a href={placeOf(`keys/${encodeURIComponent(apiKey.id)}`)}>{visible(apiKey.name)}</a>{" "}
      <code class="quiet">{visible(apiKey.prefix)}…</code>
      <span class="last-used quiet">
        {apiKey.lastUsedAt === null ? (
          words.neverUsed
        ) : (
          <>
            {words.lastUsed} <Time at={apiKey.lastUsedAt} />
          </>
        )}
      </span>
    </th>
    <td>
      <KeyState apiKey={apiKey} />
    </td>
    <BudgetCells spentUsd={spentUsd} standing={standing} />
    <td>
      <KeyActions apiKey={apiKey} standing={standing} />
    </td>
  </tr>
)
