/** Short messages at the edge of the page, which go by themselves; read out when they come. */
import { signal } from "@preact/signals"
import { State, type Kind } from "./State.tsx"

interface Toast {
  readonly id: number
  readonly kind: Kind
  readonly text: string
  readonly action?: { readonly label: string; readonly run: () => void }
}

const shown = signal<ReadonlyArray<Toast>>([])
const staysMs = 6_000
const mostShown = 4
let last = 0

const remove = (id: number): void => {
  shown.value = shown.value.filter((toast) => toast.id !== id)
}

export const toast = (kind: Kind, text: string, action?: Toast["action"]): void => {
  const id = ++last
  shown.value = [...shown.value.slice(1 - mostShown), { id, kind, text, ...(action === undefined ? {} : { action }) }]
  globalThis.setTimeout(() => remove(id), action === undefined ? staysMs : 2 * staysMs)
}

export const Toasts = () => (
  <div class="toasts" role="status">
    {shown.value.map(({ action, id, kind, text }) => (
      <div class="toast" key={id}>
        <State kind={kind}>{text}</State>
        {action !== undefined && (
          <button
            type="button"
            class="button"
            onClick={() => {
              remove(id)
              action.run()
            }}
          >
            {action.label}
          </button>
        )}
      </div>
    ))}
  </div>
)
