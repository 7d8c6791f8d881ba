/** Step 2: the key, and what else this provider needs. */
import { useSignal } from "@preact/signals"
import { proxiesList } from "../../../api/calls.generated.ts"
import type { Provider } from "../../../api/manifest.ts"
import { useAnswer } from "../../../api/queries.ts"
import { OutLink } from "../../../ui/parts/OutLink.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/addProvider.ts"
import { looksOdd, type Target, type Typed } from "./target.ts"

interface Properties {
  readonly target: Target
  readonly typed: Typed
  readonly missing: ReadonlyArray<string>
  readonly change: (part: Partial<Typed>) => void
}

interface TextProperties {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly isWrong?: boolean
  readonly isNeeded?: boolean
  readonly onText: (text: string) => void
}

const Text = ({ hint, id, isNeeded = false, isWrong = false, label, onText, value }: TextProperties) => (
  <div class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      class="input"
      type="text"
      autocomplete="off"
      spellcheck={false}
      required={isNeeded}
      aria-invalid={isWrong ? "true" : undefined}
      aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      value={value}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
    {hint !== undefined && (
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    )}
  </div>
)

const providerOf = (target: Target): Provider | null => (target._tag === "Known" ? target.provider : null)

const Secret = ({ change, missing, target, typed, title }: Properties & { readonly title: string }) => {
  const isShown = useSignal(false)
  const provider = providerOf(target)
  const hint = provider?.keyHint ?? null
  const isNeeded = provider?.needs.includes("apiKey") === true
  const shared = {
    id: "add-key",
    class: "input",
    autocomplete: "off",
    spellcheck: false,
    required: isNeeded,
    "aria-invalid": missing.includes("apiKey") ? ("true" as const) : undefined,
    "aria-describedby": "add-key-hint",
    value: typed.apiKey,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }): void => change({ apiKey: currentTarget.value })
  }
  return (
    <div class="field">
      <label for="add-key">{words.key(title === "" ? words.server.this : visible(title))}</label>
      <div class="with-link">
        {isShown.value ? <input type="text" {...shared} /> : <input type="password" {...shared} />}
        {provider?.keyUrl != null && <OutLink href={provider.keyUrl} name={words.where} />}
      </div>
      <p id="add-key-hint" class="hint">
        {hint !== null && looksOdd(typed.apiKey, hint) ? (
          <State kind="warning">{words.looksOdd(visible(hint))}</State>
        ) : hint !== null ? (
          words.looksLike(visible(hint))
        ) : isNeeded ? (
          ""
        ) : (
          words.noKey
        )}
      </p>
      <label class="tick plain-label">
        <input
          type="checkbox"
          checked={isShown.value}
          onChange={({ currentTarget }) => {
            isShown.value = currentTarget.checked
          }}
        />{" "}
        {words.show}
      </label>
    </div>
  )
}

const Server = ({ change, missing, typed }: Properties) => (
  <>
    <Text
      id="add-prefix"
      label={words.server.prefix}
      hint={words.server.prefixHint}
      isNeeded
      isWrong={missing.includes("prefix")}
      value={typed.prefix}
      onText={(prefix) => change({ prefix })}
    />
    <Text
      id="add-server"
      label={words.server.name}
      hint={words.server.nameHint}
      value={typed.nodeName}
      onText={(nodeName) => change({ nodeName })}
    />
    <div class="field">
      <label for="add-type">{words.server.type}</label>
      <select
        id="add-type"
        class="input"
        value={typed.type}
        onChange={({ currentTarget }) => change({ type: currentTarget.value as Typed["type"] })}
      >
        {Object.entries(words.types).map(([type, name]) => (
          <option key={type} value={type}>
            {name}
          </option>
        ))}
      </select>
    </div>
    <Text
      id="add-url"
      label={words.server.address}
      hint={words.server.addressHint}
      isNeeded
      isWrong={missing.includes("baseUrl")}
      value={typed.baseUrl}
      onText={(baseUrl) => change({ baseUrl })}
    />
  </>
)

const Proxy = ({ change, typed }: Pick<Properties, "change" | "typed">) => {
  const proxies = useAnswer({
    key: ["proxies", "to choose"],
    ask: (signal) => proxiesList({ query: { limit: 1_000 }, signal })
  })
  const known = proxies.value.data?.proxies ?? []
  if (known.length === 0) return null
  return (
    <div class="field">
      <label for="add-proxy">{words.proxy}</label>
      <select
        id="add-proxy"
        class="input"
        value={typed.proxyId}
        onChange={({ currentTarget }) => change({ proxyId: currentTarget.value })}
      >
        <option value="">{words.noProxy}</option>
        {known.map(({ id, name }) => (
          <option key={id} value={id}>
            {visible(name)}
          </option>
        ))}
      </select>
    </div>
  )
}

export const Fields = (properties: Properties & { readonly title: string }) => {
  const { change, missing, target, typed } = properties
  const provider = providerOf(target)
  const needsUrl = provider?.needs.includes("baseUrl") === true
  const url =
    target._tag === "New" ? null : (
      <Text
        id="add-url"
        label={words.baseUrl}
        hint={needsUrl ? words.baseUrlNeeded(provider?.baseUrl ?? "") : words.baseUrlHint}
        isNeeded={needsUrl}
        isWrong={missing.includes("baseUrl")}
        value={typed.baseUrl}
        onText={(baseUrl) => change({ baseUrl })}
      />
    )
  return (
    <div class="stack">
      {target._tag === "New" && <Server {...properties} />}
      {needsUrl && url}
      <Secret {...properties} />
      {target._tag !== "New" && (
        <Text
          id="add-name"
          label={words.name}
          hint={words.nameHint}
          value={typed.name}
          onText={(name) => change({ name })}
        />
      )}
      <details>
        <summary>{words.more}</summary>
        <div class="stack">
          {!needsUrl && url}
          <Text
            id="add-priority"
            label={words.priority}
            hint={words.priorityHint}
            value={typed.priority}
            onText={(priority) => change({ priority })}
          />
          <Proxy change={change} typed={typed} />
        </div>
      </details>
    </div>
  )
}
