/** Stands where there is nothing yet, and says what to do next. */
import type { ComponentChildren } from "preact"
import { Prose } from "../Prose.tsx"

export const Empty = ({ children, text }: { readonly text: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p>
      <Prose text={text} />
    </p>
    {children}
  </div>
)
