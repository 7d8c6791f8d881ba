/** The keys of the person: their state, what they have spent of their budgets, and another secret where one is lost. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import { keysRotate, type keysList, limitsBudget } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { reachOf } from "../../../api/rights.ts"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { money, nowMs, visible } from "../../../ui/format.ts"
import { setting } from "../../../ui/handlers.ts"
import { Table } from "../../../ui/parts/Table.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { words as common } from "../../../words/common.ts"
import { words as own } from "../../../words/me.ts"
import { words } from "../../../words/person.ts"

export type OwnKey = AnswerOf<typeof keysList>["keys"][number]

const KeyState = ({ expiresAt, isActive }: OwnKey) => {
  if (!isActive) return <State kind="quiet">{words.states.paused}</State>
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs()) {
    return <State kind="warning">{words.states.expired}</State>
  }
  return <State kind="good">{words.states.active}</State>
}

/** Gives the key another secret, which is shown this once. */
const Renew = ({ apiKey: { id, name } }: { readonly apiKey: OwnKey }) => {
  const isOpen = useSignal(false)
  const secret = useSignal<string | null>(null)
  const { forget, isBusy, problem, run } = useWork(["keys"], true)
  const close = (): void => {
    isOpen.value = false
    secret.value = null
    forget()
  }
  const renew = (): void =>
    void run(async () => {
      secret.value = (await keysRotate({ path: { id }, body: {} })).secret
    })
  return (
    <>
      <button type="button" class="button" onClick={setting(isOpen, true)} aria-label={words.renewOf(visible(name))}>
        {words.renew}
      </button>
      <Dialog title={words.renewOf(visible(name))} isOpen={isOpen.value} onClose={close}>
        {problem.value !== null && <Failure error={problem.value} />}
        {secret.value === null ? (
          <p>{words.renewMeans}</p>
        ) : (
          <>
            <State kind="warning">{words.once}</State>
            <Copyable text={secret.value} />
          </>
        )}
        <div class="buttons">
          {secret.value === null && (
            <button type="button" class="button danger" disabled={isBusy.value} onClick={renew}>
              {words.renew}
            </button>
          )}
          <button type="button" class="button" onClick={close}>
            {secret.value === null ? common.cancel : common.close}
          </button>
        </div>
      </Dialog>
    </>
  )
}

type Windows = Extract<AnswerOf<typeof limitsBudget>, { readonly windows: unknown }>["windows"]

const Spent = ({ windows }: { readonly windows: Windows }) => (
  <>
    {windows.length === 0
      ? words.noLimit
      : windows.map(({ interval, limitUsd, spentUsd }) => (
          <div key={interval}>{own.spent(money(spentUsd), money(limitUsd), own.budget[interval])}</div>
        ))}
  </>
)

export const OwnKeys = ({ keys }: { readonly keys: ReadonlyArray<OwnKey> }) => {
  const budgets = useAnswer({ key: ["budgets"], ask: (signal) => limitsBudget({ signal }) })
  const answer = budgets.value.data
  const windowsOf = (id: string): Windows =>
    answer !== undefined && "budgets" in answer
      ? (answer.budgets.find(({ apiKeyId }) => apiKeyId === id)?.windows ?? [])
      : []
  return (
    <Table label={words.keys} columns={words.columns}>
      {keys.map((apiKey) => (
        <tr key={apiKey.id}>
          <th scope="row">
            {visible(apiKey.name)} <code class="quiet">{visible(apiKey.prefix)}…</code>
          </th>
          <td>
            <KeyState {...apiKey} />
          </td>
          <td>{budgets.value.error === null ? <Spent windows={windowsOf(apiKey.id)} /> : words.notTold}</td>
          <td>{apiKey.lastUsedAt === null ? words.never : <Time at={apiKey.lastUsedAt} />}</td>
          <td>{reachOf("renewKeys") !== "none" && <Renew apiKey={apiKey} />}</td>
        </tr>
      ))}
    </Table>
  )
}
