/** Saves an edit over the version that it was made from. Where that has been changed since, both edits are there to be merged. */
import { type Signal, useSignal } from "@preact/signals"
import type { ApiError } from "../../api/ApiError.ts"

/** An object with the entity tag of its version. */
export interface Version<A> {
  readonly value: A
  readonly tag: string | null
}

/** An edit that was refused because the object is another one by now. */
export interface Conflict<A> {
  readonly base: A
  readonly mine: A
  readonly theirs: Version<A>
}

export interface Saving<A> {
  readonly isBusy: Signal<boolean>
  readonly error: Signal<ApiError | null>
  readonly conflict: Signal<Conflict<A> | null>
  /** Tells whether it is saved. */
  readonly save: (base: Version<A>, mine: A) => Promise<boolean>
}

interface Properties<A> {
  /** Sends an edit; `tag` is for `If-Match`. Answers what is stored then. */
  readonly send: (value: A, tag: string | undefined, base: A) => Promise<Version<A>>
  /** Reads the object in the answer that refused an edit. */
  readonly shown: (current: unknown) => A
  readonly onSaved: (version: Version<A>) => void
}

export const useSaving = <A extends object>({ onSaved, send, shown }: Properties<A>): Saving<A> => {
  const isBusy = useSignal(false)
  const error = useSignal<ApiError | null>(null)
  const conflict = useSignal<Conflict<A> | null>(null)
  const save = async (base: Version<A>, mine: A): Promise<boolean> => {
    if (isBusy.value) return false
    isBusy.value = true
    error.value = null
    try {
      const saved = await send(mine, base.tag ?? undefined, base.value)
      conflict.value = null
      onSaved(saved)
      return true
    } catch (failure) {
      const refused = failure as ApiError
      const { current } = (refused.answer ?? {}) as { readonly current?: unknown }
      if (refused.status === 412 && current !== undefined) {
        conflict.value = { base: base.value, mine, theirs: { value: shown(current), tag: refused.tag } }
      } else {
        conflict.value = null
        error.value = refused
      }
      return false
    } finally {
      isBusy.value = false
    }
  }
  return { isBusy, error, conflict, save }
}
