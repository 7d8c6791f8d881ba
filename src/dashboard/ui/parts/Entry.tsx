/** A labelled field for a text, a number, a secret or one of several choices. */
import { checking, typing } from "../handlers.ts"
import type { Signal } from "@preact/signals"
import { useId } from "preact/hooks"
import { Prose } from "../Prose.tsx"

interface Properties {
  readonly name: string
  readonly value: Signal<string>
  readonly hint?: string
  readonly type?: "text" | "number" | "password" | "date" | "search"
  readonly isRequired?: boolean
  readonly placeholder?: string
}

export const Entry = ({ hint, isRequired = false, name, placeholder, type = "text", value }: Properties) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <input
        id={id}
        class="input"
        type={type as "text"}
        required={isRequired}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        value={value.value}
        onInput={typing(value)}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          <Prose text={hint} />
        </p>
      )}
    </div>
  )
}

interface PickProperties {
  readonly name: string
  readonly value: Signal<string>
  readonly hint?: string
  /** Values with their words. */
  readonly choices: ReadonlyArray<readonly [string, string]>
}

export const Pick = ({ choices, hint, name, value }: PickProperties) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <select id={id} class="input" value={value.value} onChange={typing(value)}>
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  )
}

export const Tick = ({ name, value }: { readonly name: string; readonly value: Signal<boolean> }) => (
  <label class="tick">
    <input type="checkbox" checked={value.value} onChange={checking(value)} /> {name}
  </label>
)
