/** A text to be typed or pasted elsewhere, with a button that copies it. */
import { useSignal } from "@preact/signals"
import { words } from "../words/common.ts"
import { Icon } from "./Icon.tsx"

const saysMs = 2_000

export const Copyable = ({ text }: { readonly text: string }) => {
  const isCopied = useSignal(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    isCopied.value = true
    globalThis.setTimeout(() => {
      isCopied.value = false
    }, saysMs)
  }
  return (
    <div class="copyable">
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <button type="button" class="button" onClick={() => void copy()}>
        <Icon name={isCopied.value ? "good" : "copy"} />
        <span role="status">{isCopied.value ? words.copied : words.copy}</span>
      </button>
    </div>
  )
}
