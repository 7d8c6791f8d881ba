/** Answers whether the bill agrees: takes a provider's export and shows it beside the ledger, by day and model. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import { providersList, usageHistoryReconcile } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { useWork } from "../../../ui/useWork.ts"
import { words as all } from "../../../words/keysMoney.ts"
import { useAddress } from "../address.ts"
import { Compared } from "./Compared.tsx"

const words = all.bill

/** The longest that the gateway takes. */
const mostChars = 1_000_000
const mostAccounts = 200

const shellWord = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** The same in a shell, where the file is. */
const commandOf = (file: string, provider: string, connectionId: string): string =>
  [
    "gateway cost reconcile",
    ...(provider === "" ? [] : ["--provider", shellWord(provider)]),
    ...(connectionId === "" ? [] : ["--connection", shellWord(connectionId)]),
    shellWord(file === "" ? "costs.json" : file)
  ].join(" ")

/** The provider and account that are compared: in the address, unlike the bill. */
const Against = () => {
  const { query, set } = useAddress()
  const id = useId()
  const connections = useAnswer({
    key: ["connections", "summary"],
    ask: (signal) => providersList({ query: { view: "summary", limit: mostAccounts }, signal })
  })
  return (
    <div class="parameters">
      <div class="field">
        <label for={`${id}-provider`}>{words.provider}</label>
        <input
          id={`${id}-provider`}
          class="input"
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`${id}-hint`}
          value={query["provider"] ?? ""}
          onInput={({ currentTarget }) => set({ provider: currentTarget.value })}
        />
        <p id={`${id}-hint`} class="hint">
          {words.providerHint}
        </p>
      </div>
      <div class="field">
        <label for={`${id}-connection`}>{words.connection}</label>
        <select
          id={`${id}-connection`}
          class="input"
          value={query["connection"] ?? ""}
          onChange={({ currentTarget }) => set({ connection: currentTarget.value })}
        >
          <option value="">{words.allConnections}</option>
          {(connections.value.data?.connections ?? []).map(({ id: connection, name, provider }) => (
            <option key={connection} value={connection}>
              {visible(`${provider} / ${name}`)}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}

export const Bill = () => {
  const { query } = useAddress()
  const id = useId()
  const text = useSignal("")
  const file = useSignal("")
  const problem = useSignal<string | null>(null)
  const { forget, isBusy, problem: error, run } = useWork([], true)
  const compared = useSignal<AnswerOf<typeof usageHistoryReconcile> | null>(null)
  const { connection = "", provider = "" } = query

  const read = async (chosen: File | undefined): Promise<void> => {
    problem.value = null
    if (chosen === undefined) return
    file.value = chosen.name
    if (chosen.size > mostChars) {
      problem.value = words.tooLong
      return
    }
    try {
      text.value = await chosen.text()
    } catch {
      problem.value = words.unreadable
    }
  }
  const compare = async (): Promise<void> => {
    forget()
    compared.value = null
    problem.value = text.value.trim() === "" ? words.empty : text.value.length > mostChars ? words.tooLong : null
    if (problem.value !== null) return
    await run(async () => {
      compared.value = await usageHistoryReconcile({
        body: {
          bill: text.value,
          ...(provider.trim() === "" ? {} : { provider: provider.trim() }),
          ...(connection === "" ? {} : { connectionId: connection })
        }
      })
    })
  }
  return (
    <>
      <form
        class="card stack bill"
        noValidate
        aria-label={all.tabs.bill}
        onSubmit={(event) => {
          event.preventDefault()
          void compare()
        }}
      >
        <p>{words.hint}</p>
        <p class="quiet">{words.where}</p>
        <div class="field">
          <label for={`${id}-file`}>{words.file}</label>
          <input
            id={`${id}-file`}
            class="input"
            type="file"
            accept=".json,.csv,application/json,text/csv"
            onChange={({ currentTarget }) => void read(currentTarget.files?.[0])}
          />
        </div>
        <div class="field">
          <label for={`${id}-text`}>{words.paste}</label>
          <textarea
            id={`${id}-text`}
            class="input mono"
            rows={6}
            spellcheck={false}
            value={text.value}
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value
              problem.value = null
            }}
          />
        </div>
        <Against />
        {problem.value !== null && (
          <p class="problem" role="alert">
            <State kind="bad">{problem.value}</State>
          </p>
        )}
        {error.value !== null && <Failure error={error.value} />}
        <div class="buttons">
          <button type="submit" class="button main-action" disabled={isBusy.value}>
            {isBusy.value ? words.comparing : words.compare}
          </button>
        </div>
        <details class="copy-as">
          <summary>{words.command}</summary>
          <Copyable name="gateway" text={commandOf(file.value, provider, connection)} />
        </details>
      </form>
      {compared.value !== null && <Compared answer={compared.value} />}
    </>
  )
}
