/** Keys of the whole page: `g` and a letter open an entry. None counts while something is typed. */
import { useEffect } from "preact/hooks"
import { entries } from "./entries.ts"
import { placeOf } from "../ui/places.ts"

/** After `g` the next key counts for so long. */
const waitsMs = 1_500

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName))

export const useShortcuts = (open: (url: string) => void): void => {
  useEffect(() => {
    let askedAt = -Infinity
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const isSecond = performance.now() - askedAt < waitsMs
      askedAt = event.key === "g" && !isSecond ? performance.now() : -Infinity
      const entry = isSecond ? entries.find(({ key }) => key === event.key) : undefined
      if (entry === undefined) return
      event.preventDefault()
      open(placeOf(entry.path))
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [open])
}
