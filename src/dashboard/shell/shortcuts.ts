/** Keys of the whole page. None counts while something is typed, or when they are turned off; `Ctrl K` counts in fields, too. */
import { useEffect, useRef } from "preact/hooks"
import { openEntries } from "./entries.ts"
import { placeOf } from "../ui/address/places.ts"
import { hasShortcuts } from "../ui/preferences.ts"

/** Time in ms within which the key after `g` counts. */
const waitsMs = 1_500

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName))

/** Puts the focus into the filter of the view, where it has one. */
const toFilter = (): boolean => {
  const field = document.querySelector<HTMLElement>("main [role=combobox], main input[type=search]")
  field?.focus()
  return field !== null
}

export interface Actions {
  readonly open: (url: string) => void
  readonly palette: () => void
  readonly keys: () => void
}

export const useShortcuts = ({ keys, open, palette }: Actions): void => {
  // It outlives the effect, which begins again with each address. The time is that of the press: a busy page hears of it later.
  const askedAt = useRef(-Infinity)
  useEffect(() => {
    const isDone = (event: KeyboardEvent): boolean => {
      const isSecond = event.timeStamp - askedAt.current < waitsMs
      askedAt.current = event.key === "g" && !isSecond ? event.timeStamp : -Infinity
      const entry = isSecond ? openEntries().find(({ key }) => key === event.key) : undefined
      if (entry !== undefined) open(placeOf(entry.path))
      else if (event.key === "?") keys()
      else if (event.key === "/") return toFilter()
      else return false
      return true
    }
    const onKey = (event: KeyboardEvent): void => {
      if (!hasShortcuts.value || event.defaultPrevented || document.querySelector("dialog[open]") !== null) return
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault()
        return palette()
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (isDone(event)) event.preventDefault()
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [keys, open, palette])
}
