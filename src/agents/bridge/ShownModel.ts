/**
 * The client's own name of the model in an answer, whichever model gave it: in an answer as a whole and in each event of a stream, of every wire.
 * Agents check it: one drops signed thinking of a model that it did not ask. All other bytes stay as they are.
 */
import { framingOf, type Frame, makeFrames, withData } from "../../plane/reply/Frames.ts"
import { headerIn, withHeaders } from "../../plane/reply/ReplyHeaders.ts"
import { wrapped } from "../../plane/reply/Wrapped.ts"
import type { ClientReply, Exchange } from "../../plane/request/Exchange.ts"
import { type Path, spliceValues } from "../../wire/json/DeepSplice.ts"
import { isObject, parseJson } from "../../wire/json/Json.ts"

/**
 * Paths at which wires name the model of an answer: all of them, `messages` in `message_start`, `responses` in events
 * of the whole, `gemini`.
 */
const places: ReadonlyArray<Path> = [["model"], ["message", "model"], ["response", "model"], ["modelVersion"]]

/** The text with the name in each place that has one; null where it has none, or is no object. */
const renamed = (text: string, model: string): string | null => {
  // Most events of some wires name none.
  if (!text.includes('"model')) return null
  const parsed = parseJson(text)
  if (!isObject(parsed)) return null
  const edits = places.flatMap((path) => {
    const [outer = "", inner] = path
    const value = parsed[outer]
    const named = inner === undefined ? value : isObject(value) ? value[inner] : undefined
    return typeof named === "string" && named !== model ? [{ path, json: JSON.stringify(model) }] : []
  })
  return edits.length === 0 ? null : spliceValues(text, edits)
}

type Form = "none" | "whole" | "stream"

const formOf = (status: number, headers: ReadonlyArray<string>, streamType: string): Form => {
  if (status !== 200) return "none"
  const type = headerIn(headers, "content-type")?.toLowerCase() ?? ""
  // The stream of one wire is an array, which is JSON too: its answers are streams by their codec.
  const [stream = ""] = streamType.toLowerCase().split(";", 1)
  if (stream !== "application/json" && type.startsWith(stream)) return "stream"
  return /json/.test(type) ? (stream === "application/json" ? "stream" : "whole") : "none"
}

const bytesOf = (chunk: Buffer | string): Buffer => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)

/** A reply that shows `model` in what it is given, in the wire of `codec`. A whole answer goes on once all of it is there. */
export const showingModel = (reply: ClientReply, codec: Exchange["codec"], model: string): ClientReply => {
  const framing = framingOf(codec)
  const frames = makeFrames(framing)
  let form: Form = "none"
  let head: Array<string> = []
  const held: Array<Buffer> = []

  const shown = (found: ReadonlyArray<Frame>): Buffer =>
    Buffer.concat(
      found.map((frame) => {
        const json = frame.data === null ? null : renamed(frame.data, model)
        return json === null ? frame.bytes : withData(framing, frame, json)
      })
    )

  return wrapped(reply, {
    head: (status, headers) => {
      form = formOf(status, headers, codec.streamContentType)
      if (form === "whole") head = headers
      else reply.head(status, headers)
    },
    write: (chunk) => {
      if (form === "none") return reply.write(chunk)
      if (form === "whole") {
        held.push(bytesOf(chunk))
        return true
      }
      const bytes = shown(frames.push(chunk))
      return bytes.length === 0 || reply.write(bytes)
    },
    end: (chunk, trailers) => {
      if (form === "none") return reply.end(chunk, trailers)
      if (form === "stream") return reply.end(shown([...frames.push(chunk), ...frames.end()]), trailers)
      const whole = Buffer.concat([...held, bytesOf(chunk)])
      const json = renamed(whole.toString(), model)
      const answer = json === null ? whole : Buffer.from(json)
      const isSized = headerIn(head, "content-length") !== null
      reply.head(200, isSized ? withHeaders(head, ["Content-Length", String(answer.length)]) : head)
      reply.end(answer, trailers)
    }
  })
}
