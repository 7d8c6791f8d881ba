/** Adds a provider in four steps: choose, key, check, first question. Nothing is stored before it is saved. */
import { useSignal } from "@preact/signals"
import { loadProviders, type Provider } from "../../api/manifest.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { placeOf } from "../../ui/places.ts"
import { words } from "../../words/providers.ts"
import { FirstQuestion, type Saved } from "./FirstQuestion.tsx"
import { Key } from "./Key.tsx"

const mostShown = 60

interface ChooseProperties {
  readonly providers: ReadonlyArray<Provider>
  readonly onChoose: (provider: Provider) => void
}

const Choose = ({ onChoose, providers }: ChooseProperties) => {
  const typed = useSignal("")
  const wanted = typed.value.trim().toLowerCase()
  const found = providers.filter(({ aliases, id, name }) =>
    [id, name, ...aliases].some((text) => text.toLowerCase().includes(wanted))
  )
  return (
    <div class="stack">
      <div class="field">
        <label for="provider">{words.wizard.search}</label>
        <input
          id="provider"
          class="input"
          type="search"
          autocomplete="off"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
          }}
        />
        <p class="hint" role="status">
          {words.wizard.found(found.length)}
        </p>
      </div>
      <ul class="choices">
        {found.slice(0, mostShown).map((provider) => (
          <li key={provider.id}>
            <button type="button" class="button" onClick={() => onChoose(provider)}>
              {provider.name}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

export const Add = () => {
  const providers = useAnswer({ key: ["manifest"], ask: loadProviders })
  const chosen = useSignal<Provider | null>(null)
  const saved = useSignal<Saved | null>(null)
  return (
    <div class="stack wizard">
      <header class="view-head">
        <h1>{words.add}</h1>
        <a class="button" href={placeOf("providers")}>
          {words.wizard.toList}
        </a>
      </header>
      {chosen.value === null && (
        <Answered of={providers} height={320}>
          {(all) => (
            <Choose
              providers={all}
              onChoose={(provider) => {
                chosen.value = provider
              }}
            />
          )}
        </Answered>
      )}
      {chosen.value !== null && saved.value === null && (
        <Key
          provider={chosen.value}
          onBack={() => {
            chosen.value = null
          }}
          onSaved={(connection) => {
            saved.value = connection
          }}
        />
      )}
      {saved.value !== null && <FirstQuestion saved={saved.value} />}
    </div>
  )
}
