/** The head of an area: its name, what it is for, and what is done most. */
import type { ComponentChildren } from "preact"
import { Prose } from "../../../ui/Prose.tsx"

interface Properties {
  readonly title: string
  readonly hint: string
  /** Buttons; the primary action is the first. */
  readonly children?: ComponentChildren
}

export const Head = ({ children, hint, title }: Properties) => (
  <header class="area-head">
    <div>
      <h2>{title}</h2>
      <p class="quiet">
        <Prose text={hint} />
      </p>
    </div>
    <div class="buttons">{children}</div>
  </header>
)
