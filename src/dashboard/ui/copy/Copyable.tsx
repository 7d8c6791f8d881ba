/** A text to be typed or pasted elsewhere, with a button that copies it. */
import { useSignal } from "@preact/signals"
import { words } from "../../words/common.ts"
import { Icon } from "../Icon.tsx"
import { visible } from "../format.ts"

const saysMs = 2_000

interface Properties {
  readonly text: string
  /** Names this one, where there are several. */
  readonly name?: string
}

export const Copyable = ({ name, text }: Properties) => {
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
      <pre tabIndex={0} role="region" aria-label={name ?? words.toCopy}>
        <code>{visible(text)}</code>
      </pre>
      <button
        type="button"
        class="button"
        aria-label={name === undefined ? undefined : words.copyOf(name)}
        onClick={() => void copy()}
      >
        <Icon name={isCopied.value ? "good" : "copy"} />
        <span role="status">{isCopied.value ? words.copied : words.copy}</span>
      </button>
    </div>
  )
}
