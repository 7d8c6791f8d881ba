/** A field for anything that can be asked for as a model. What is typed is searched for among models, combos, aliases and automatic ids. */
import { setting } from "./handlers.ts"
import { useSignal } from "@preact/signals"
import { useEffect, useId } from "preact/hooks"
import { modelCatalogList } from "../api/calls.generated.ts"
import { useAnswer } from "../api/queries.ts"

interface Properties {
  readonly id?: string
  readonly label?: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly placeholder?: string
  readonly isWrong?: boolean
  readonly describedBy?: string
}

const settlesMs = 200
const mostOffered = 30

export const ModelInput = ({ describedBy, id, isWrong, label, onValue, placeholder, value }: Properties) => {
  const listId = useId()
  const isFocused = useSignal(false)
  const asked = useSignal(value)
  useEffect(() => {
    const timer = globalThis.setTimeout(() => {
      asked.value = value.slice(0, 200)
    }, settlesMs)
    return () => globalThis.clearTimeout(timer)
  }, [value, asked])
  const found = useAnswer({
    key: ["catalog", "names", asked.value],
    ask: (signal) => modelCatalogList({ query: { search: asked.value, view: "summary", limit: mostOffered }, signal }),
    when: isFocused.value
  })
  return (
    <>
      <input
        id={id}
        class="input"
        list={listId}
        autocomplete="off"
        spellcheck={false}
        aria-label={label}
        aria-invalid={isWrong === true}
        aria-describedby={describedBy}
        placeholder={placeholder}
        value={value}
        onFocus={setting(isFocused, true)}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <datalist id={listId}>
        {found.value.data?.models.map(({ id: name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}
