/** Runs work anew whenever what it is about has changed, shows how far it is, and ends it when the view is left. */
import { type Signal, useSignal } from "@preact/signals"
import { useCallback, useEffect, useRef } from "preact/hooks"
import type { ApiError } from "../../../api/ApiError.ts"
import type { Progress } from "../../../api/progress.ts"

export interface Run<A> {
  readonly state: "idle" | "waiting" | "running" | "done" | "stopped" | "failed"
  readonly progress: Progress | null
  /** The last answer; it may be of an earlier question while another is on its way. */
  readonly answer: A | null
  readonly error: ApiError | null
}

export type Work<A> = (signal: AbortSignal, tell: (progress: Progress) => void) => Promise<A>

/** Changes that follow each other faster count as one. */
const settlesMs = 500

interface Running<A> {
  readonly run: Signal<Run<A>>
  readonly start: () => void
  readonly stop: () => void
}

/** `question`: text of what is asked; null: nothing can be asked now. */
export const useRun = <A>(question: string | null, work: Work<A>): Running<A> => {
  const run = useSignal<Run<A>>({ state: "idle", progress: null, answer: null, error: null })
  const leaving = useRef<AbortController | null>(null)
  const latest = useRef(work)
  latest.current = work
  const leave = useCallback((): void => {
    leaving.current?.abort()
    leaving.current = null
  }, [])
  const start = useCallback((): void => {
    leave()
    const controller = new AbortController()
    leaving.current = controller
    const isHere = (): boolean => leaving.current === controller
    run.value = { ...run.value, state: "running", progress: null, error: null }
    const finish = (last: Partial<Run<A>> & Pick<Run<A>, "state">): void => {
      if (isHere()) run.value = { progress: null, answer: null, error: null, ...last }
    }
    const work = async (): Promise<void> => {
      try {
        const answer = await latest.current(controller.signal, (progress) => {
          if (isHere()) run.value = { ...run.value, progress }
        })
        finish({ state: "done", answer })
      } catch (error) {
        finish({ state: "failed", error: error as ApiError })
      }
    }
    void work()
  }, [leave, run])
  const stop = useCallback((): void => {
    leave()
    run.value = { ...run.value, state: "stopped", progress: null }
  }, [leave, run])
  useEffect(() => {
    leave()
    if (question === null) {
      run.value = { ...run.value, state: "idle", progress: null }
      return undefined
    }
    run.value = { ...run.value, state: "waiting" }
    const timer = globalThis.setTimeout(start, settlesMs)
    return () => globalThis.clearTimeout(timer)
  }, [question, start, leave, run])
  useEffect(() => leave, [leave])
  return { run, start, stop }
}
