/** Raises the limits of a key's budget, with a way back. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import type { ApiError } from "../../api/ApiError.ts"
import { limitsSetBudget } from "../../api/calls.generated.ts"
import { queries, useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Dialog } from "../../ui/dialogs/Dialog.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { visible } from "../../ui/format.ts"
import { useWork } from "../../ui/useWork.ts"
import { toast } from "../../ui/toasts.tsx"
import { words as common } from "../../words/common.ts"
import { words } from "../../words/home.ts"
import { type Budget, putBudget, readBudget } from "./run.ts"

const limits = [
  ["dailyLimitUsd", words.attention.limits.daily, "daily"],
  ["weeklyLimitUsd", words.attention.limits.weekly, "weekly"],
  ["monthlyLimitUsd", words.attention.limits.monthly, "monthly"]
] as const

type Limit = (typeof limits)[number][0]

interface FormProperties {
  readonly budget: Budget
  /** Window that is used up, or soon will be. */
  readonly interval: string
  readonly name: string
  readonly onClose: () => void
}

const takeBack = async (before: Budget): Promise<void> => {
  try {
    await putBudget(before)
    toast("good", words.attention.undone)
  } catch (error) {
    toast("bad", visible((error as ApiError).message))
  } finally {
    void queries.invalidateQueries()
  }
}

const Form = ({ budget, interval, name, onClose }: FormProperties) => {
  const id = useId()
  const given = limits.filter(([limit]) => budget[limit] > 0)
  // Twice as much of what has just not been enough is offered.
  const typed = useSignal<Partial<Record<Limit, string>>>(
    Object.fromEntries(
      given.map(([limit, , of]) => [limit, String(of === interval ? budget[limit] * 2 : budget[limit])])
    )
  )
  const { isBusy, problem: error, run } = useWork([], true)
  const changed = () => Object.fromEntries(given.map(([limit]) => [limit, Number(typed.value[limit])]))
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    await run(async () => {
      await putBudget({ ...budget, ...changed() })
      toast("good", words.attention.raised(visible(name)), {
        label: words.attention.undo,
        run: () => void takeBack(budget)
      })
      void queries.invalidateQueries()
      onClose()
    })
  }
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      {given.map(([limit, label]) => (
        <div key={limit} class="field">
          <label for={`${id}-${limit}`}>{label}</label>
          <input
            id={`${id}-${limit}`}
            class="input"
            type="number"
            min="0"
            step="any"
            required
            value={typed.value[limit] ?? ""}
            onInput={({ currentTarget }) => {
              typed.value = { ...typed.value, [limit]: currentTarget.value }
            }}
          />
        </div>
      ))}
      <p class="hint quiet">{words.attention.raiseHint}</p>
      {error.value !== null && <Failure error={error.value} />}
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value}>
          {words.attention.raise}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
      </div>
      <CopyAs call={limitsSetBudget} body={{ apiKeyId: budget.apiKeyId, ...changed() }} />
    </form>
  )
}

const Loaded = ({ apiKeyId, ...rest }: Omit<FormProperties, "budget"> & { readonly apiKeyId: string }) => {
  const budget = useAnswer({ key: ["budget", apiKeyId], ask: () => readBudget(apiKeyId) })
  return (
    <Answered of={budget} height={120}>
      {(found) => (found === null ? null : <Form budget={found} {...rest} />)}
    </Answered>
  )
}

interface Properties extends Pick<FormProperties, "interval" | "name"> {
  readonly apiKeyId: string
}

export const Raise = ({ apiKeyId, interval, name }: Properties) => {
  const isOpen = useSignal(false)
  const close = (): void => {
    isOpen.value = false
  }
  return (
    <>
      <button
        type="button"
        class="button"
        onClick={() => {
          isOpen.value = true
        }}
      >
        {words.attention.raise}
      </button>
      <Dialog title={words.attention.raiseTitle(visible(name))} isOpen={isOpen.value} onClose={close}>
        <Loaded apiKeyId={apiKeyId} interval={interval} name={name} onClose={close} />
      </Dialog>
    </>
  )
}
