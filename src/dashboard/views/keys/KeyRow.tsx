/** One key: whether it works, what it has spent of its budget, when it will be stopped, and what can be done. */
import { useSignal } from "@preact/signals"
import type { ApiError } from "../../api/ApiError.ts"
import type { AnswerOf } from "../../api/client.ts"
import { keysPatch, keysRemove, keysRotate, type keysList, type limitsBudget } from "../../api/calls.generated.ts"
import { refresh } from "../../api/queries.ts"
import { Dialog } from "../../ui/Dialog.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { clockTime, money, nowMs, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/places.ts"
import { toast } from "../../ui/toasts.tsx"
import { words as common } from "../../words/common.ts"
import { words } from "../../words/keys.ts"
import { reachedAtMs } from "../../ui/time/pace.ts"
import { Secret } from "./Secret.tsx"

type ApiKey = AnswerOf<typeof keysList>["keys"][number]
/** A budget as it stands. */
export type Budget = Extract<AnswerOf<typeof limitsBudget>, { readonly budgets: unknown }>["budgets"][number]

const KeyState = ({ apiKey: { expiresAt, isActive } }: { readonly apiKey: ApiKey }) => {
  if (!isActive) return <State kind="quiet">{words.paused}</State>
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs()) return <State kind="warning">{words.expired}</State>
  return <State kind="good">{words.active}</State>
}

/** The window of a budget that is reached first. */
const tightest = ({ windows }: Budget) =>
  windows.toSorted((one, other) => other.spentUsd / other.limitUsd - one.spentUsd / one.limitUsd)[0]

const BudgetCells = ({ budget }: { readonly budget: Budget | undefined }) => {
  const window = budget === undefined ? undefined : tightest(budget)
  if (window === undefined) {
    return (
      <>
        <td class="number quiet">–</td>
        <td class="quiet">{words.noLimit}</td>
        <td class="quiet">–</td>
      </>
    )
  }
  const atMs = reachedAtMs(window, nowMs())
  return (
    <>
      <td class="number">{money(window.spentUsd)}</td>
      <td>
        {money(window.limitUsd)} {words.intervals[window.interval]}
      </td>
      <td>
        <meter
          min={0}
          max={window.limitUsd}
          value={Math.min(window.spentUsd, window.limitUsd)}
          aria-label={words.columns.pace}
        />{" "}
        {atMs === null ? (
          <span class="quiet">{words.within}</span>
        ) : (
          <State kind="warning">{words.reached(clockTime(new Date(atMs).toISOString()))}</State>
        )}
      </td>
    </>
  )
}

interface ActionsProperties {
  readonly apiKey: ApiKey
}

const Actions = ({ apiKey }: ActionsProperties) => {
  const asked = useSignal<"rotate" | "remove" | null>(null)
  const secret = useSignal<string | null>(null)
  const path = { id: apiKey.id }
  const does = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      toast("bad", (error as ApiError).message)
    } finally {
      void refresh("keys")
    }
  }
  const pause = async (): Promise<void> => {
    await keysPatch({ path, body: { isActive: !apiKey.isActive } })
  }
  const rotate = async (): Promise<void> => {
    secret.value = (await keysRotate({ path })).secret
  }
  const remove = async (): Promise<void> => {
    await keysRemove({ path })
    asked.value = null
  }
  const close = (): void => {
    asked.value = null
    secret.value = null
  }
  const isRotating = asked.value === "rotate"
  const title = isRotating ? words.reallyRotate(apiKey.name) : words.reallyRemove(apiKey.name)
  return (
    <span class="buttons">
      <button type="button" class="button" onClick={() => void does(pause)}>
        {apiKey.isActive ? words.pause : words.resume}
      </button>
      <button
        type="button"
        class="button"
        onClick={() => {
          asked.value = "rotate"
        }}
      >
        {words.rotate}
      </button>
      <a class="button plain" href={`${placeOf("system/keysPatch")}?id=${apiKey.id}`}>
        {words.edit}
      </a>
      <button
        type="button"
        class="button danger"
        onClick={() => {
          asked.value = "remove"
        }}
      >
        {words.remove}
      </button>
      <Dialog
        title={secret.value === null ? title : words.made(apiKey.name)}
        isOpen={asked.value !== null}
        onClose={close}
      >
        {secret.value === null ? (
          <>
            <p>{isRotating ? words.rotateMeans : words.removeMeans}</p>
            <div class="buttons">
              <button type="button" class="button danger" onClick={() => void does(isRotating ? rotate : remove)}>
                {isRotating ? words.rotate : words.remove}
              </button>
              <button type="button" class="button" onClick={close}>
                {common.cancel}
              </button>
            </div>
          </>
        ) : (
          <Secret secret={secret.value} onClose={close} />
        )}
      </Dialog>
    </span>
  )
}

interface Properties {
  readonly apiKey: ApiKey
  readonly budget: Budget | undefined
}

export const KeyRow = ({ apiKey, budget }: Properties) => (
  <tr>
    <td>
      {visible(apiKey.name)} <code class="quiet">{visible(apiKey.prefix)}…</code>
    </td>
    <td>
      <KeyState apiKey={apiKey} />
    </td>
    <BudgetCells budget={budget} />
    <td>{apiKey.lastUsedAt === null ? <span class="quiet">{words.never}</span> : <Time at={apiKey.lastUsedAt} />}</td>
    <td>
      <Actions apiKey={apiKey} />
    </td>
  </tr>
)
