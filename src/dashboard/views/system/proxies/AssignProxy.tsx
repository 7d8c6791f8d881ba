/** Says whose calls go by a proxy: those of an account, a provider, a key, or all. */
import { type Signal, useSignal } from "@preact/signals"
import { keysList, proxiesAssign, providersList } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { visible } from "../../../ui/format.ts"
import { words as common } from "../../../words/common.ts"
import { words } from "../../../words/system/proxies.ts"
import { Entry, Pick } from "../../../ui/parts/Entry.tsx"
import { useWork } from "../../../ui/useWork.ts"
import type { Assignment } from "./ProxyRow.tsx"

type Scope = Assignment["scope"]

const scopes: ReadonlyArray<Scope> = ["connection", "provider", "key", "global"]

/** Accounts and keys that a list is chosen from; others are found by their words. */
const mostShown = 100

const nameChoices = (
  those: ReadonlyArray<{ readonly id: string; readonly name: string; readonly provider?: string }>
): ReadonlyArray<readonly [string, string]> => [
  ["", words.choose],
  ...those.map(
    ({ id, name, provider }) =>
      [id, provider === undefined ? visible(name) : `${visible(provider)} / ${visible(name)}`] as const
  )
]

const Accounts = ({ search, value }: { readonly value: Signal<string>; readonly search: string }) => {
  const list = useAnswer({
    key: ["providers", "to choose", search],
    ask: (signal) => providersList({ query: { view: "summary", limit: mostShown, search }, signal })
  })
  return (
    <Answered of={list} height={56}>
      {({ connections }) => <Pick name={words.scopes.connection} value={value} choices={nameChoices(connections)} />}
    </Answered>
  )
}

const Keys = ({ search, value }: { readonly value: Signal<string>; readonly search: string }) => {
  const list = useAnswer({
    key: ["keys", "to choose", search],
    ask: (signal) => keysList({ query: { limit: mostShown, search }, signal })
  })
  return (
    <Answered of={list} height={56}>
      {({ keys }) => <Pick name={words.scopes.key} value={value} choices={nameChoices(keys)} />}
    </Answered>
  )
}

interface Properties {
  /** Null: the dialog is closed. */
  readonly proxyId: string | null
  readonly name: string
  readonly assigned: ReadonlyArray<Assignment>
  readonly onClose: () => void
}

const Form = ({ assigned, onClose, proxyId }: Omit<Properties, "name">) => {
  const scope = useSignal<string>("connection")
  const scopeId = useSignal("")
  const search = useSignal("")
  const { isBusy, problem, run } = useWork(["proxies"], true)
  const assign = (to: Scope, id: string | null, proxy: string | null) =>
    proxiesAssign({ body: { scope: to, proxyId: proxy, ...(id === null ? {} : { scopeId: id }) } })
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const to = scopes.find((each) => each === scope.value) ?? "global"
    if (await run(() => assign(to, to === "global" ? null : scopeId.value, proxyId), words.changed)) onClose()
  }
  return (
    <form class="stack" noValidate onSubmit={(event) => void submit(event)}>
      {assigned.length > 0 && (
        <ul class="rows">
          {assigned.map(({ scope: to, scopeId: id }) => (
            <li key={`${to} ${id}`}>
              <span>
                {words.scopes[to]} {id !== null && <code>{visible(id)}</code>}
              </span>
              <button
                type="button"
                class="button"
                disabled={isBusy.value}
                onClick={() => void run(() => assign(to, id, null), words.changed)}
              >
                {words.takeBack}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Pick name={words.whose} value={scope} choices={scopes.map((each) => [each, words.scopes[each]])} />
      {(scope.value === "connection" || scope.value === "key") && (
        <Entry name={words.search} type="search" value={search} />
      )}
      {scope.value === "connection" && <Accounts value={scopeId} search={search.value} />}
      {scope.value === "key" && <Keys value={scopeId} search={search.value} />}
      {scope.value === "provider" && <Entry name={words.scopes.provider} value={scopeId} placeholder="openai" />}
      {problem.value !== null && <Failure error={problem.value} />}
      <div class="buttons">
        <button
          type="submit"
          class="button main-action"
          disabled={isBusy.value || (scope.value !== "global" && scopeId.value === "")}
        >
          {words.assign}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {common.close}
        </button>
      </div>
    </form>
  )
}

export const AssignProxy = ({ assigned, name, onClose, proxyId }: Properties) => (
  <Dialog title={words.assignTitle(visible(name))} isOpen={proxyId !== null} onClose={onClose}>
    <Form key={proxyId} proxyId={proxyId} assigned={assigned} onClose={onClose} />
  </Dialog>
)
