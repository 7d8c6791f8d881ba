/** The key of a provider, checked before it is stored. */
import { type Signal, useSignal } from "@preact/signals"
import type { ApiError } from "../../api/ApiError.ts"
import { providersCreate, providersValidate } from "../../api/calls.generated.ts"
import type { Provider } from "../../api/manifest.ts"
import { refresh } from "../../api/queries.ts"
import { Copyable } from "../../ui/copy/Copyable.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { State } from "../../ui/State.tsx"
import { duration, visible } from "../../ui/format.ts"
import { words } from "../../words/providers.ts"
import type { Saved } from "./FirstQuestion.tsx"

interface TextProperties {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly isSecret?: boolean
  readonly text: Signal<string>
}

const Text = ({ hint, id, isSecret, label, text }: TextProperties) => {
  const shared = {
    id,
    class: "input",
    autocomplete: "off",
    "aria-describedby": `${id}-hint`,
    value: text.value,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }): void => {
      text.value = currentTarget.value
    }
  } as const
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isSecret === true ? <input type="password" {...shared} /> : <input type="text" {...shared} />}
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    </div>
  )
}

interface Checked {
  readonly ok: boolean
  readonly text: string
}

/** Only addresses of the web lead out of the page. */
const isWebAddress = (url: string | null): url is string => url !== null && /^https?:\/\//.test(url)

const KeyPage = ({ provider }: { readonly provider: Provider }) =>
  isWebAddress(provider.keyUrl) ? (
    <p>
      <a href={provider.keyUrl} target="_blank" rel="noopener noreferrer">
        {words.wizard.where} ({new URL(provider.keyUrl).host})
      </a>
    </p>
  ) : null

interface Properties {
  readonly provider: Provider
  readonly onBack: () => void
  readonly onSaved: (saved: Saved) => void
}

export const Key = ({ onBack, onSaved, provider }: Properties) => {
  const apiKey = useSignal("")
  const baseUrl = useSignal("")
  const name = useSignal("")
  const busy = useSignal<"check" | "save" | null>(null)
  const checked = useSignal<Checked | null>(null)
  const error = useSignal<ApiError | null>(null)
  const given = () => ({
    provider: provider.id,
    ...(apiKey.value === "" ? {} : { apiKey: apiKey.value }),
    ...(baseUrl.value === "" ? {} : { baseUrl: baseUrl.value })
  })
  const does = async (what: "check" | "save", work: () => Promise<void>): Promise<void> => {
    busy.value = what
    error.value = null
    try {
      await work()
    } catch (failure) {
      error.value = failure as ApiError
    } finally {
      busy.value = null
    }
  }
  const check = async (): Promise<void> => {
    const began = performance.now()
    const { error: why, valid } = await providersValidate({ body: given() })
    const ms = duration(performance.now() - began)
    checked.value = valid
      ? { ok: true, text: words.wizard.accepted(ms) }
      : { ok: false, text: `${words.wizard.refused} ${visible(why ?? "")}` }
  }
  const save = async (): Promise<void> => {
    const body = { ...given(), ...(name.value.trim() === "" ? {} : { name: name.value }) }
    const { connection } = await providersCreate({ body })
    void refresh("connections")
    onSaved({ id: connection.id, name: provider.name, provider: provider.id })
  }
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void does("save", save)
      }}
    >
      <p>
        <strong>{provider.name}</strong>{" "}
        <button type="button" class="button plain" onClick={onBack}>
          {words.wizard.another}
        </button>
      </p>
      {provider.signIn !== null && (
        <div>
          <p class="quiet">{words.wizard.signIn}</p>
          <Copyable text={`gateway provider login ${provider.id}`} />
        </div>
      )}
      <Text
        id="key"
        label={words.wizard.key(provider.name)}
        isSecret
        text={apiKey}
        {...(provider.keyHint === null ? {} : { hint: words.wizard.looksLike(provider.keyHint) })}
      />
      <KeyPage provider={provider} />
      <Text id="name" label={words.wizard.name} hint={words.wizard.nameHint} text={name} />
      <Text id="base-url" label={words.wizard.baseUrl} hint={words.wizard.baseUrlHint} text={baseUrl} />
      <div class="buttons">
        <button type="button" class="button" disabled={busy.value !== null} onClick={() => void does("check", check)}>
          {busy.value === "check" ? words.wizard.checking : words.wizard.check}
        </button>
        <button type="submit" class="button main-action" disabled={busy.value !== null}>
          {words.wizard.save}
        </button>
      </div>
      <p class="quiet">{words.wizard.nothingStored}</p>
      <div role="status">
        {checked.value !== null && <State kind={checked.value.ok ? "good" : "bad"}>{checked.value.text}</State>}
      </div>
      {error.value !== null && <Failure error={error.value} />}
    </form>
  )
}
