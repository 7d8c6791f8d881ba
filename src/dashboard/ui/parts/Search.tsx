/** A field that searches, whose text is in the address a moment after it was typed. */
import { useSignal } from "@preact/signals"
import { useEffect, useId } from "preact/hooks"
import { useLocation } from "preact-iso"
import { withQuery } from "./Pages.tsx"

const settlesMs = 200

interface Properties {
  readonly label: string
  readonly placeholder?: string
  /** Parameters that a new search starts without, such as the page. */
  readonly dropped?: ReadonlyArray<string>
}

export const Search = ({ dropped = [], label, placeholder }: Properties) => {
  const { path, query, route } = useLocation()
  const id = useId()
  const typed = useSignal(query["q"] ?? "")
  useEffect(() => {
    const timer = globalThis.setTimeout(() => {
      if (typed.value === (query["q"] ?? "")) return
      const none = Object.fromEntries(dropped.map((name) => [name, ""]))
      route(withQuery(path, query, { ...none, q: typed.value }), true)
    }, settlesMs)
    return () => globalThis.clearTimeout(timer)
  }, [dropped, path, query, route, typed, typed.value])
  return (
    <div class="field search">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type="search"
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
        }}
      />
    </div>
  )
}
