/** Handlers of events that only write a signal, or send a form. */
import type { Signal } from "@preact/signals"

/** Writes a value that is known when the element is drawn. */
export const setting =
  <A>(signal: Signal<A>, value: A) =>
  (): void => {
    signal.value = value
  }

/** Writes what stands in the field now. */
export const typing =
  (signal: { value: string | null }) =>
  ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void => {
    signal.value = currentTarget.value
  }

/** Writes whether the box is checked now. */
export const checking =
  (signal: Signal<boolean>) =>
  ({ currentTarget }: { readonly currentTarget: { readonly checked: boolean } }): void => {
    signal.value = currentTarget.checked
  }

/** Opens and closes a dialog by a signal: `{...opening(isAdding)}`. */
export const opening = (isOpen: Signal<boolean>): { readonly isOpen: boolean; readonly onClose: () => void } => ({
  isOpen: isOpen.value,
  onClose: setting(isOpen, false)
})

/** Sends a form by itself: the browser does not leave the page. */
export const submitting =
  (send: () => void | Promise<void>) =>
  (event: Event): void => {
    event.preventDefault()
    void send()
  }
