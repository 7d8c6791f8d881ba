/** A field that searches; its text is in the address a moment after it was typed. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { useAddress } from "./address.ts"

const settlesMs = 200

export const Search = ({ label }: { readonly label: string }) => {
  const { query, set } = useAddress()
  const typed = useSignal(query["q"] ?? "")
  useEffect(() => {
    const timer = globalThis.setTimeout(() => {
      if (typed.value !== (query["q"] ?? "")) set({ q: typed.value, pages: "" })
    }, settlesMs)
    return () => globalThis.clearTimeout(timer)
  }, [typed.value, query["q"]])
  return (
    <input
      class="input search"
      type="search"
      aria-label={label}
      placeholder={label}
      autocomplete="off"
      spellcheck={false}
      value={typed.value}
      onInput={({ currentTarget }) => {
        typed.value = currentTarget.value
      }}
    />
  )
}
