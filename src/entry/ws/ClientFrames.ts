/** Frames that a client may send on a socket: one JSON object per text frame. Pure. */
import { readForeignJson, Unreadable } from "../../wire/json/Bounds.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { isObject, type JsonObject } from "../../wire/json/Json.ts"
import { read } from "../../wire/json/Members.ts"
import { makeSpelling } from "../../wire/json/Spelling.ts"

export type ClientFrame =
  /** `body` is that of a responses request; `generate` false asks for no answer, only to be remembered. */
  | { readonly _tag: "Create"; readonly lane: string | null; readonly body: JsonObject; readonly generate: boolean }
  | { readonly _tag: "Cancel"; readonly lane: string | null }

/** A frame that cannot be processed: the client gets an error, and the socket stays open. */
export interface FrameProblem {
  readonly _tag: "Problem"
  readonly lane: string | null
  readonly param: string | null
  readonly message: string
}

const maxLaneChars = 256

/** The members of the transport. Those of the request are checked by its reader. */
const misspelt = makeSpelling(read("type", "event_id", "stream_id", "response", "generate"))

const problem = (message: string, param: string | null = null, lane: string | null = null): FrameProblem => ({
  _tag: "Problem",
  lane,
  param,
  message
})

/** The request in a frame: its members are next to `type`, or in `response`. Members of the transport are removed. */
const requestOf = (frame: JsonObject): { readonly body: JsonObject; readonly generate: boolean } => {
  const { event_id: _event, response, stream_id: _lane, type: _type, ...flat } = frame
  const { generate, ...body } = isObject(response) ? { ...flat, ...response } : flat
  // On a socket every answer comes in events.
  return { body: { ...body, stream: true }, generate: generate !== false }
}

/** Total: any text becomes a frame or a problem with the reason. */
export const readClientFrame = (text: string | Buffer): ClientFrame | FrameProblem => {
  const frame = typeof text === "string" ? readForeignJson(text, maxTopMembers) : readForeignBody(text, maxTopMembers)
  if (frame instanceof Unreadable) return problem(frame.message, frame.param)
  if (!isObject(frame)) return problem("A frame must be a JSON object.")
  const wrong = misspelt(frame)
  if (wrong !== null) return problem(wrong.message, wrong.path)
  const lane = frame["stream_id"] ?? null
  if (lane !== null && (typeof lane !== "string" || lane === "" || lane.length > maxLaneChars)) {
    return problem(`stream_id: expected a string of 1 to ${maxLaneChars} characters`, "stream_id")
  }
  switch (frame["type"]) {
    case "response.create":
      return { _tag: "Create", lane, ...requestOf(frame) }
    case "response.cancel":
    case "cancel":
      return { _tag: "Cancel", lane }
    default:
      return problem("type: expected 'response.create' or 'response.cancel'", "type", lane)
  }
}
