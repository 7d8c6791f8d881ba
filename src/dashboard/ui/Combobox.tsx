/** A text field with a list of proposals below it, after the ARIA pattern: the field keeps the focus, arrows choose, Enter takes. */
import { setting } from "./handlers.ts"
import { useSignal } from "@preact/signals"
import type { ComponentChildren, RefObject, TargetedKeyboardEvent } from "preact"
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks"
import { words } from "../words/common.ts"

export interface Proposal {
  readonly id: string
  readonly text: string
  /** Told beside it. */
  readonly hint?: string
}

interface Properties {
  readonly label: string
  readonly value: string
  readonly proposals: ReadonlyArray<Proposal>
  readonly onInput: (text: string) => void
  readonly onTake: (proposal: Proposal) => void
  readonly field?: RefObject<HTMLInputElement | null>
  readonly id?: string
  readonly placeholder?: string
  readonly isInvalid?: boolean
  readonly describedBy?: string
  /** The list stands open and its first proposal is chosen, as in a palette; else it opens while the field has the focus. */
  readonly isPalette?: boolean
  /** Stands in place of proposals. */
  readonly children?: ComponentChildren
}

const useChoice = ({ isPalette = false, proposals }: Properties) => {
  const isOpen = useSignal(isPalette)
  const chosen = useSignal(isPalette ? 0 : -1)
  const list = useRef<HTMLUListElement>(null)
  const names = proposals.map(({ id }) => id).join("\n")
  // Before the next key can come.
  useLayoutEffect(() => {
    chosen.value = isPalette ? 0 : -1
  }, [names, isPalette, chosen])
  const at = Math.min(chosen.value, proposals.length - 1)
  useEffect(() => list.current?.children.item(at)?.scrollIntoView({ block: "nearest" }), [at])
  return { isOpen, chosen, list, at }
}

export const Combobox = (properties: Properties) => {
  const { children, describedBy, field, isInvalid, isPalette = false, label, onInput, onTake, placeholder } = properties
  const { proposals, value } = properties
  const own = useId()
  const id = properties.id ?? own
  const { at, chosen, isOpen, list } = useChoice(properties)
  const isShown = isPalette || (isOpen.value && proposals.length > 0)
  const close = (): void => {
    isOpen.value = isPalette
    chosen.value = isPalette ? 0 : -1
  }
  const take = (index: number): void => {
    const proposal = proposals[index]
    if (proposal !== undefined) onTake(proposal)
  }
  const move = (by: number): void => {
    isOpen.value = true
    const many = proposals.length
    if (many > 0) chosen.value = at === -1 && by < 0 ? many - 1 : (at + by + many) % many
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (event.isComposing) return
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event.key === "ArrowDown" ? 1 : -1)
    else if (event.key === "Enter" && isShown && at >= 0) take(at)
    else if (event.key === "Escape" && isShown && !isPalette) close()
    else return
    event.preventDefault()
  }
  return (
    <div class={isPalette ? "combobox palette" : "combobox"}>
      <input
        id={id}
        ref={field ?? null}
        class="input"
        type="text"
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-activedescendant={isShown && at >= 0 ? `${id}-${at}` : undefined}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={(event) => {
          isOpen.value = true
          onInput(event.currentTarget.value)
        }}
        onFocus={setting(isOpen, true)}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      <ul id={`${id}-list`} ref={list} class="proposals" role="listbox" aria-label={words.proposals} hidden={!isShown}>
        {isShown &&
          proposals.map(({ hint, id: name, text }, index) => (
            <li
              key={name}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(index)}
            >
              <span class="text">{text}</span>
              {hint !== undefined && <span class="quiet">{hint}</span>}
            </li>
          ))}
      </ul>
      {children}
    </div>
  )
}
