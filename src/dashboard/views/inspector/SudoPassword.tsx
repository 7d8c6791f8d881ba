/** Field of the password with which this machine is changed, where that takes one. */
import type { Signal } from "@preact/signals"
import { typing } from "../../ui/handlers.ts"
import { words } from "../../words/inspector.ts"

export const SudoPassword = ({ id, password }: { readonly id: string; readonly password: Signal<string> }) => (
  <div class="field">
    <label for={id}>{words.capture.password}</label>
    <input
      id={id}
      class="input short"
      type="password"
      autocomplete="off"
      value={password.value}
      onInput={typing(password)}
    />
    <p class="hint">{words.capture.passwordHint}</p>
  </div>
)
