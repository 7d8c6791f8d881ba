/** Draws an answer when it is there; while it is on its way its place, and when there is none why. */
import type { ComponentChildren } from "preact"
import type { ReadonlySignal } from "@preact/signals"
import type { Result } from "../api/queries.ts"
import { words } from "../words/common.ts"
import { Failure } from "./Failure.tsx"
import { State } from "./State.tsx"

interface Properties<A> {
  readonly of: ReadonlySignal<Result<A>>
  /** Height of what is awaited, so that nothing moves when it comes. */
  readonly height?: number
  readonly children: (answer: A) => ComponentChildren
}

export const Answered = <A,>({ children, height = 96, of: { value: result } }: Properties<A>) => {
  if (result.data === undefined && result.error !== null) {
    return <Failure error={result.error} retry={() => void result.refetch()} />
  }
  if (result.data === undefined) {
    return (
      <div class="skeleton" style={{ height: `${height}px` }} role="status" aria-label={words.loading}>
        <span class="visually-hidden">{words.loading}</span>
      </div>
    )
  }
  return (
    <>
      {result.error !== null && <State kind="warning">{words.stale}</State>}
      {children(result.data)}
    </>
  )
}
