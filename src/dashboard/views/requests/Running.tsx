/** Requests under way, as they are decided, called and answered. */
import { useSignal } from "@preact/signals"
import { useCallback, useEffect, useRef } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { liveRunning } from "../../api/calls.generated.ts"
import { useFeed } from "../../live/feed.ts"
import { type FeedEvent, feedState, heard } from "../../live/socket.ts"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/requests.ts"
import { after, type Shown } from "./underWay.ts"

const mostShown = 5
/** A feed that leaves events out is made good so often. */
const againMs = 1_000

const shownOf = (request: AnswerOf<typeof liveRunning>["requests"][number]): Shown => request

/** Follows what is under way: asked for once the feed is heard, and then as the feed tells it. */
const useRunning = () => {
  const running = useSignal<ReadonlyArray<Shown>>([])
  /** Events that came while the answer was on its way; null: none is. */
  const told = useRef<Array<FeedEvent> | null>(null)
  const again = useRef(0)
  const leaving = useRef(new AbortController())
  const load = useCallback(async (): Promise<void> => {
    if (told.current !== null) return
    told.current = []
    try {
      const { requests } = await liveRunning({ signal: leaving.current.signal })
      running.value = told.current.reduce(after, requests.map(shownOf))
    } catch {
      // What is under way is shown beside the log: without it the log is whole.
    } finally {
      told.current = null
    }
  }, [running])
  const isHeard = heard.value.has("requests")
  const isCut = feedState.value === "cut"
  useEffect(() => {
    if (isHeard || isCut) void load()
  }, [isCut, isHeard, load])
  useEffect(
    () => () => {
      leaving.current.abort()
      globalThis.clearTimeout(again.current)
    },
    []
  )
  useFeed(
    "requests",
    useCallback(
      (event: FeedEvent) => {
        told.current?.push(event)
        running.value = after(running.value, event)
        // One that stands for several has left some out: of those neither begin nor end is known.
        if (event.sampled === undefined || again.current !== 0) return
        again.current = globalThis.setTimeout(() => {
          again.current = 0
          void load()
        }, againMs)
      },
      [load, running]
    )
  )
  return running
}

interface Properties {
  /** Address of the detail of a request. */
  readonly placeOfRequest: (requestId: string) => string
}

export const RunningRequests = ({ placeOfRequest }: Properties) => {
  const all = useRunning().value
  if (all.length === 0) return null
  const shown = all.toSorted((one, other) => other.startedAt.localeCompare(one.startedAt)).slice(0, mostShown)
  return (
    <section class="card running" aria-label={words.running}>
      <h2>{words.runningCount(all.length)}</h2>
      <ul>
        {shown.map(({ candidates, requestId, requestedModel, startedAt, state, target }) => (
          <li key={requestId}>
            <a href={placeOfRequest(requestId)}>{visible(requestedModel)}</a>
            <span>→ {target === null ? words.undecided : visible(target)}</span>
            <span class="quiet">{words.ofTargets(candidates)}</span>
            <State kind="quiet" icon={state === "streaming" ? "live" : "wait"}>
              {words.states[state]}
            </State>
            <Time at={startedAt} />
          </li>
        ))}
      </ul>
    </section>
  )
}
