/**
 * Writes what is typed into the address once it has settled. While the next view is loaded the one that was left is still shown: it must write nothing
 * any more, or it would call the reader back.
 */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"

const settlesMs = 250

/** Checks whether the address is still of a place or below it. */
export const isAt = (place: string): boolean => {
  const { pathname } = globalThis.location
  return pathname === place || pathname.startsWith(`${place}/`)
}

interface Typed {
  /** As the address has it. */
  readonly written: string
  /** Path of the view, as in `placeOf("requests")`. */
  readonly place: string
  readonly write: (text: string) => void
}

/** The text of a field that is in the address: it follows the address, and the address follows it once it has settled. */
export const useTyped = ({ place, write, written }: Typed): Signal<string> => {
  const typed = useSignal(written)
  /** Last text that field and address had in common. */
  const common = useRef(written)
  const latest = useRef(write)
  latest.current = write
  useEffect(() => {
    if (written === common.current || !isAt(place)) return
    common.current = written
    typed.value = written
  }, [place, typed, written])
  useEffect(() => {
    if (typed.value === common.current) return undefined
    const timer = globalThis.setTimeout(() => {
      if (!isAt(place)) return
      common.current = typed.value
      latest.current(typed.value)
    }, settlesMs)
    return () => globalThis.clearTimeout(timer)
  }, [place, typed, typed.value])
  return typed
}
