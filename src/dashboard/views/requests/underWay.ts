/** The requests under way as the feed tells them, event by event. */
import type { liveRunning } from "../../api/calls.generated.ts"
import type { AnswerOf } from "../../api/client.ts"
import { type FeedEvent, requestIdOf } from "../../live/socket.ts"

type Running = AnswerOf<typeof liveRunning>["requests"][number]

export type Shown = Pick<Running, "requestId" | "startedAt" | "requestedModel" | "candidates" | "target" | "state">

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
          candidates: Number(data["candidates"]),
          target: textOf(data, "first"),
          state: "calling"
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
