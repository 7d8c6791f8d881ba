/** Answers which model is best, how fast and how dear, and how it is called: one question to one to four models at once, at any of ten endpoints. */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { useLocation } from "preact-iso"
import { keysList, modelCatalogList } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { isAt } from "../../ui/address/address.ts"
import { download } from "../../ui/download.ts"
import { Icon } from "../../ui/Icon.tsx"
import { visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/playground.ts"
import { AnswersDiff } from "./AnswersDiff.tsx"
import { Column } from "./Column.tsx"
import { DraftFields } from "./DraftFields.tsx"
import { askedOf, endpoints, isEndpoint, WrongField } from "./endpoints.ts"
import { Improve } from "./Improve.tsx"
import { Presets } from "./Presets.tsx"
import { start } from "./run.ts"
import { SnippetsOf } from "./SnippetsOf.tsx"
import { addColumn, asKey, columns, draft, endpoint, isRunning, mostColumns, type One, setModels } from "./store.ts"

const AsKey = () => {
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

const EndpointField = () => (
  <div class="field">
    <label for="endpoint">{words.endpoint}</label>
    <select
      id="endpoint"
      class="input"
      value={endpoint.value}
      onChange={(event) => {
        if (isEndpoint(event.currentTarget.value)) endpoint.value = event.currentTarget.value
      }}
    >
      {endpoints.map((name) => (
        <option key={name} value={name}>
          {words.endpoints[name]}
        </option>
      ))}
    </select>
  </div>
)

const mostNames = 500

/** Names of models to choose from; any other may be typed. */
const ModelNames = () => {
  const models = useAnswer({
    key: ["catalog-names"],
    ask: (signal) => modelCatalogList({ query: { view: "summary", limit: mostNames } as object, signal })
  })
  return (
    <datalist id="playground-models">
      <option value="auto" />
      {models.value.data?.models.map(({ id }) => (
        <option key={id} value={id} />
      ))}
    </datalist>
  )
}

type Opened = "improve" | "snippets" | "diff" | null

const wrongWords: Readonly<Record<string, string>> = words.wrong

const run = (one: One, signal: AbortSignal): void => {
  one.problem.value = null
  try {
    const { answer, body, file, path } = askedOf(endpoint.value, one.model.value, one.own.value ?? draft.value)
    const who = asKey.value === "" ? null : asKey.value
    void start(one.run, { endpoint: endpoint.value, answer, path, body, file, asKey: who, signal })
  } catch (error) {
    one.problem.value = error instanceof WrongField ? (wrongWords[error.field] ?? error.message) : String(error)
  }
}

const saveAnswers = (): void => {
  const answers = columns.value.map(({ model, run: { value } }) => ({
    model: model.value,
    target: value.target,
    requestId: value.requestId,
    state: value.state,
    text: value.text,
    ttftMs: value.firstMs,
    totalMs: value.wholeMs,
    tokensIn: value.tokensIn,
    tokensOut: value.tokensOut,
    costUsd: value.costUsd,
    isEstimate: true
  }))
  const { images: _images, file: _file, ...asked } = draft.value
  const text = JSON.stringify({ endpoint: endpoint.value, asked, answers }, null, 2)
  download("answers.json", new Blob([text], { type: "application/json" }))
}

/** Endpoint and models are in the address, so that a comparison can be passed on; what is typed is not. */
const useAddress = (): void => {
  const { query, route } = useLocation()
  const place = placeOf("playground")
  useEffect(() => {
    const named = query["endpoint"] ?? ""
    if (isEndpoint(named)) endpoint.value = named
    if (query["models"] !== undefined && query["models"] !== "") setModels(query["models"].split(","))
    // Of the address with which the view was opened.
  }, [])
  const models = columns.value.map(({ model }) => model.value.replaceAll(",", "")).join(",")
  useEffect(() => {
    const search = new URLSearchParams({ endpoint: endpoint.value, models })
    if (query["preset"] !== undefined) search.set("preset", query["preset"])
    const timer = globalThis.setTimeout(() => {
      if (isAt(place)) route(`${place}?${search.toString()}`, true)
    }, 300)
    return () => globalThis.clearTimeout(timer)
  }, [endpoint.value, models, query["preset"]])
}

const Tools = ({ onOpen }: { readonly onOpen: (what: Opened) => void }) => {
  const answers = columns.value.filter(({ run: { value } }) => value.text !== "" || value.outcome !== null)
  return (
    <div class="buttons">
      <button type="button" class="button" disabled={columns.value.length >= mostColumns} onClick={addColumn}>
        <Icon name="add" /> {words.addColumn}
      </button>
      {endpoint.value === "chat" && (
        <button type="button" class="button" onClick={() => onOpen("improve")}>
          {words.improve}
        </button>
      )}
      <button type="button" class="button" onClick={() => onOpen("snippets")}>
        {words.snippets}
      </button>
      {answers.filter(({ run: { value } }) => value.text !== "").length > 1 && (
        <button type="button" class="button" onClick={() => onOpen("diff")}>
          {words.diff}
        </button>
      )}
      {answers.length > 0 && (
        <button type="button" class="button" onClick={saveAnswers}>
          {words.saveAnswers}
        </button>
      )}
    </div>
  )
}

export const Playground = () => {
  const opened = useSignal<Opened>(null)
  const leaving = useRef<AbortController | null>(null)
  useAddress()
  useEffect(() => () => leaving.current?.abort(), [])
  const runAll = (): void => {
    leaving.current?.abort()
    leaving.current = new AbortController()
    for (const one of columns.value) run(one, leaving.current.signal)
  }
  const close = (): void => {
    opened.value = null
  }
  return (
    <div class="stack">
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          runAll()
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) runAll()
        }}
      >
        <header class="view-head">
          <h1>{words.title}</h1>
          {columns.value.some(isRunning) ? (
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
        <div class="parameters">
          <EndpointField />
          <AsKey />
        </div>
        <DraftFields
          endpoint={endpoint.value}
          draft={draft.value}
          onChange={(changed) => {
            draft.value = changed
          }}
        />
        <Presets />
        <ModelNames />
        <Tools
          onOpen={(what) => {
            opened.value = what
          }}
        />
        <div class="columns" role="region" aria-label={words.columns}>
          {columns.value.map((one, index) => (
            <Column key={one.id} one={one} place={index + 1} />
          ))}
        </div>
        <p class="quiet">{words.estimate}</p>
      </form>
      <Improve isOpen={opened.value === "improve"} onClose={close} />
      <SnippetsOf isOpen={opened.value === "snippets"} onClose={close} />
      <AnswersDiff isOpen={opened.value === "diff"} onClose={close} />
    </div>
  )
}
