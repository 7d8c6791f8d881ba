/** The button that opens the dialog of something new. */
import type { Signal } from "@preact/signals"
import { setting } from "./handlers.ts"
import { Icon } from "./Icon.tsx"

export const AddButton = ({ label, opens }: { readonly label: string; readonly opens: Signal<boolean> }) => (
  <button type="button" class="button main-action" onClick={setting(opens, true)}>
    <Icon name="add" /> {label}
  </button>
)
