/** Runs what a button does: one thing at a time, the reason told where it is refused, and what is shown asked for anew. */
import { type ReadonlySignal, useSignal } from "@preact/signals"
import { ApiError } from "../api/ApiError.ts"
import { refresh } from "../api/queries.ts"
import { visible } from "./format.ts"
import { toast } from "./toasts.tsx"
import { words } from "../words/parts.ts"

export interface Work {
  readonly isBusy: ReadonlySignal<boolean>
  /** Reason for which the last one was refused; null: it was not. */
  readonly problem: ReadonlySignal<ApiError | null>
  /** Runs it; `said` tells that it is done. False: it was refused. */
  readonly run: (work: () => Promise<unknown>, said?: string) => Promise<boolean>
  /** Shows the reason no longer. */
  readonly forget: () => void
}

/** The view was left, or the reader has stopped it. */
const isStopped = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError"

const told = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(error instanceof Error ? error.message : String(error), { status: 0, code: "failed" })

/** Switches something, and offers to switch it back: what can be undone needs no question. */
export const switchWith = async (
  { run }: Work,
  isOn: boolean,
  set: (isOn: boolean) => Promise<unknown>,
  said: { readonly on: string; readonly off: string }
): Promise<void> => {
  if (!(await run(() => set(!isOn)))) return
  toast("good", isOn ? said.off : said.on, { label: words.undo, run: () => void run(() => set(isOn)) })
}

/** `keys`: answers that may be old afterwards. `isQuiet`: the view shows the problem itself. */
export const useWork = (keys: ReadonlyArray<string>, isQuiet = false): Work => {
  const isBusy = useSignal(false)
  const problem = useSignal<ApiError | null>(null)
  const run: Work["run"] = async (work, said) => {
    if (isBusy.value) return false
    isBusy.value = true
    problem.value = null
    try {
      await work()
      if (said !== undefined) toast("good", said)
      return true
    } catch (error) {
      if (isStopped(error)) return false
      problem.value = told(error)
      if (!isQuiet) toast("bad", visible(problem.value.message))
      return false
    } finally {
      isBusy.value = false
      for (const key of keys) void refresh(key)
    }
  }
  const forget = (): void => {
    problem.value = null
  }
  return { isBusy, problem, run, forget }
}
