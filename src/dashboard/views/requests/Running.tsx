/** Requests under way, as they are decided, called and answered. */
import { useSignal } from "@preact/signals"
import { useCallback, useEffect } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { liveRunning } from "../../api/calls.generated.ts"
import { useFeed } from "../../live/feed.ts"
import { type FeedEvent, requestIdOf } from "../../live/socket.ts"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/requests.ts"

type Running = AnswerOf<typeof liveRunning>["requests"][number]

interface Shown extends Pick<Running, "requestId" | "startedAt" | "requestedModel" | "target" | "state"> {
  /** Targets that it was decided among; absent: it had begun before the page heard of it. */
  readonly candidates?: number
}

const mostShown = 5

/** Text of an event's member. */
const textOf = (data: FeedEvent["data"], name: string): string => {
  const value = data[name]
  return typeof value === "string" ? value : ""
}

/** The requests under way after an event. */
export const after = (running: ReadonlyArray<Shown>, happened: FeedEvent): ReadonlyArray<Shown> => {
  const { at, data, event } = happened
  const requestId = requestIdOf(happened)
  const others = running.filter((request) => request.requestId !== requestId)
  const known = running.find((request) => request.requestId === requestId)
  switch (event) {
    case "request.started":
      return [
        ...others,
        {
          requestId,
          startedAt: at,
          requestedModel: textOf(data, "requestedModel"),
          target: textOf(data, "first"),
          state: "calling",
          ...(typeof data["candidates"] === "number" ? { candidates: data["candidates"] } : {})
        }
      ]
    case "request.attempt":
      return known === undefined
        ? running
        : [
            ...others,
            { ...known, target: textOf(data, "target"), state: data["outcome"] === null ? "calling" : "waiting" }
          ]
    case "request.streaming":
      return known === undefined ? running : [...others, { ...known, state: "streaming" }]
    default:
      return others
  }
}

interface Properties {
  /** Address of the detail of a request. */
  readonly placeOfRequest: (requestId: string) => string
}

export const RunningRequests = ({ placeOfRequest }: Properties) => {
  const running = useSignal<ReadonlyArray<Shown>>([])
  useEffect(() => {
    const leaving = new AbortController()
    const load = async (): Promise<void> => {
      const { requests } = await liveRunning({ signal: leaving.signal })
      const known = new Set(running.value.map(({ requestId }) => requestId))
      running.value = [...requests.filter(({ requestId }) => !known.has(requestId)), ...running.value]
    }
    // What is under way is shown beside the log: without it the log is whole.
    load().catch(() => {})
    return () => leaving.abort()
  }, [running])
  useFeed(
    "requests",
    useCallback(
      (event: FeedEvent) => {
        running.value = after(running.value, event)
      },
      [running]
    )
  )
  const all = running.value
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
            {candidates !== undefined && <span class="quiet">{words.ofTargets(candidates)}</span>}
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
