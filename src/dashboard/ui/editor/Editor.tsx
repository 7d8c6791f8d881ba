/**
 * A field for JSON and long texts. It is a plain one until it gets the focus; then the editor is loaded and takes its place. Where that cannot
 * be loaded it stays a plain one, and nothing typed is lost.
 */
import { setting } from "../handlers.ts"
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { OpenedEditor } from "./openEditor.ts"

export interface EditorProperties {
  readonly id: string
  readonly text: string
  readonly onText: (text: string) => void
  readonly language: "json" | "text"
  /** Loaded at once: the field is what the page is for. */
  readonly isOpen?: boolean
  readonly isDisabled?: boolean
  readonly isWrong?: boolean
  /** Id of what describes it. */
  readonly describedBy?: string
}

const rowsOf = (text: string): number => Math.min(16, Math.max(3, text.split("\n", 17).length + 1))

const labelOf = (id: string): HTMLLabelElement | null => document.querySelector(`label[for="${CSS.escape(id)}"]`)

/** The editor of a field, from the moment at which it is wanted. */
const useEditor = ({ id, isOpen = false, language, onText, text }: EditorProperties) => {
  const host = useRef<HTMLDivElement>(null)
  const plain = useRef<HTMLTextAreaElement>(null)
  const opened = useRef<OpenedEditor | null>(null)
  const isWanted = useSignal(isOpen)
  const isThere = useSignal(false)
  // The latest of both, for an editor that is opened later.
  const now = useRef({ onText, text })
  now.current = { onText, text }
  useEffect(() => {
    let isLeft = false
    const label = labelOf(id)
    const goIn = (): void => opened.current?.focus()
    const open = async (): Promise<void> => {
      const { openEditor } = await import("./openEditor.ts")
      if (isLeft || host.current === null) return
      const hadFocus = document.activeElement === plain.current
      opened.current = openEditor(host.current, {
        language,
        text: now.current.text,
        name: label?.textContent ?? id,
        onText: (next) => now.current.onText(next)
      })
      label?.addEventListener("click", goIn)
      // At once, not with the next drawing: a key that is typed meanwhile would go nowhere.
      host.current.hidden = false
      if (hadFocus) opened.current.focus(plain.current?.selectionStart)
      if (plain.current !== null) plain.current.hidden = true
      isThere.value = true
    }
    if (isWanted.value) {
      open().catch(() => {
        // The plain field stays.
      })
    }
    return () => {
      isLeft = true
      label?.removeEventListener("click", goIn)
      opened.current?.close()
      opened.current = null
    }
  }, [id, isWanted.value, isThere, language])
  return { host, isThere, isWanted, opened, plain }
}

export const Editor = (properties: EditorProperties) => {
  const { describedBy, id, isDisabled = false, isWrong = false, onText, text } = properties
  const { host, isThere, isWanted, opened, plain } = useEditor(properties)
  useEffect(() => opened.current?.setText(text), [opened, text, isThere.value])
  useEffect(
    () => opened.current?.setState({ isDisabled, isWrong, describedBy: describedBy ?? null }),
    [opened, isDisabled, isWrong, describedBy, isThere.value]
  )
  return (
    <>
      <div class="editor" ref={host} hidden={!isThere.value} data-editor={id} />
      <textarea
        id={id}
        ref={plain}
        class="input mono"
        hidden={isThere.value}
        rows={rowsOf(text)}
        spellcheck={false}
        disabled={isDisabled}
        aria-invalid={isWrong}
        aria-describedby={describedBy}
        value={text}
        onFocus={setting(isWanted, true)}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
    </>
  )
}
