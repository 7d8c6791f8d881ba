/** Answers which model is best, how fast and how dear: one prompt to one to four models at once. */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { keysList, modelCatalogList } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Icon } from "../../ui/Icon.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/playground.ts"
import { Column } from "./Column.tsx"
import { makeRun, type Run, start } from "./run.ts"

interface One {
  readonly id: number
  readonly model: string
  readonly run: Signal<Run>
}

const mostColumns = 4

const numberOrNull = (text: string): number | null =>
  text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text)

interface TextProperties {
  readonly id: string
  readonly label: string
  readonly rows: number
  readonly text: Signal<string>
}

const Text = ({ id, label, rows, text }: TextProperties) => (
  <div class="field">
    <label for={id}>{label}</label>
    <textarea
      id={id}
      class="input"
      rows={rows}
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value
      }}
    />
  </div>
)

const NumberField = ({ id, label, text }: Omit<TextProperties, "rows">) => (
  <div class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      class="input"
      type="number"
      step="any"
      placeholder={words.own}
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value
      }}
    />
  </div>
)

const AsKey = ({ asKey }: { readonly asKey: Signal<string> }) => {
  const keys = useAnswer({ key: ["keys"], ask: (signal) => keysList({ signal }) })
  return (
    <div class="field">
      <label for="as-key">{words.asKey}</label>
      <select
        id="as-key"
        class="input"
        value={asKey.value}
        onChange={(event) => {
          asKey.value = event.currentTarget.value
        }}
      >
        <option value="">{words.session}</option>
        {keys.value.data?.keys.map(({ id, name }) => (
          <option key={id} value={id}>
            {visible(name)}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Names of models to choose from; any other may be typed. */
const ModelNames = () => {
  const models = useAnswer({ key: ["catalog"], ask: (signal) => modelCatalogList({ signal }) })
  return (
    <datalist id="playground-models">
      <option value="auto" />
      {models.value.data?.models.map(({ id }) => (
        <option key={id} value={id} />
      ))}
    </datalist>
  )
}

export const Playground = () => {
  const system = useSignal("")
  const prompt = useSignal<string>(words.firstPrompt)
  const maxTokens = useSignal("")
  const temperature = useSignal("")
  const asKey = useSignal("")
  const columns = useSignal<ReadonlyArray<One>>([{ id: 1, model: "auto", run: makeRun() }])
  const leaving = useRef<AbortController | null>(null)
  const isRunning = columns.value.some(({ run }) => run.value.state === "waiting" || run.value.state === "running")
  useEffect(() => () => leaving.current?.abort(), [])

  const change = (id: number, model: string): void => {
    columns.value = columns.value.map((one) => (one.id === id ? { id, model, run: one.run } : one))
  }
  const add = (): void => {
    const last = columns.value.at(-1)
    columns.value = [...columns.value, { id: (last?.id ?? 0) + 1, model: last?.model ?? "auto", run: makeRun() }]
  }
  const runAll = (): void => {
    leaving.current?.abort()
    leaving.current = new AbortController()
    const { signal } = leaving.current
    for (const { model, run } of columns.value) {
      void start(run, {
        model,
        system: system.value,
        prompt: prompt.value,
        maxTokens: numberOrNull(maxTokens.value),
        temperature: numberOrNull(temperature.value),
        asKey: asKey.value === "" ? null : asKey.value,
        signal
      })
    }
  }
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        runAll()
      }}
    >
      <header class="view-head">
        <h1>{words.title}</h1>
        {isRunning ? (
          // Of its own: the same element as the other button would send the form with the click that stops.
          <button key="stop" type="button" class="button" onClick={() => leaving.current?.abort()}>
            {words.stop}
          </button>
        ) : (
          <button key="run" type="submit" class="button main-action">
            {words.runAll}
          </button>
        )}
      </header>
      <Text id="prompt" label={words.prompt} rows={3} text={prompt} />
      <div class="parameters">
        <Text id="system" label={words.system} rows={1} text={system} />
        <NumberField id="max-tokens" label={words.maxTokens} text={maxTokens} />
        <NumberField id="temperature" label={words.temperature} text={temperature} />
        <AsKey asKey={asKey} />
      </div>
      <ModelNames />
      <div class="columns" role="region" aria-label={words.columns}>
        {columns.value.map((one, index) => (
          <Column
            key={one.id}
            place={index + 1}
            model={one.model}
            run={one.run}
            onModel={(model) => change(one.id, model)}
            onRemove={
              columns.value.length === 1
                ? null
                : () => {
                    columns.value = columns.value.filter(({ id }) => id !== one.id)
                  }
            }
          />
        ))}
      </div>
      {columns.value.length < mostColumns && (
        <div class="buttons">
          <button type="button" class="button" onClick={add}>
            <Icon name="add" /> {words.addColumn}
          </button>
        </div>
      )}
    </form>
  )
}
