/** A field that searches, whose text is in the address a moment after it was typed. */
import { useId, useRef } from "preact/hooks"
import { typing } from "../handlers.ts"
import { useLocation } from "preact-iso"
import { useTyped } from "../address/address.ts"
import { withQuery } from "./Pages.tsx"

interface Properties {
  readonly label: string
  readonly placeholder?: string
  /** Parameters that a new search starts without, such as the page. */
  readonly dropped?: ReadonlyArray<string>
}

export const Search = ({ dropped = [], label, placeholder }: Properties) => {
  const { path, query, route } = useLocation()
  const id = useId()
  const place = useRef(path)
  const typed = useTyped({
    written: query["q"] ?? "",
    place: place.current,
    write: (text) => {
      // What lies below is another page, which may have been opened meanwhile.
      if (globalThis.location.pathname.replace(/\/+$/, "") !== place.current) return
      const none = Object.fromEntries(dropped.map((name) => [name, ""]))
      route(withQuery(path, query, { ...none, q: text }), true)
    }
  })
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
        onInput={typing(typed)}
      />
    </div>
  )
}
