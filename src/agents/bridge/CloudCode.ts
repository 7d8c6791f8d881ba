/**
 * The wrapper of Google's Code Assist around Gemini's wire: a request is `{model, project, request}`, each answer, and each event of a stream,
 * `{response}`; errors have none. As Gemini CLI writes and reads it
 * (https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/code_assist/converter.ts). Pure.
 */
import { headerIn, withHeaders } from "../../plane/reply/ReplyHeaders.ts"
import { wrapped } from "../../plane/reply/Wrapped.ts"
import type { ClientReply } from "../../plane/request/Exchange.ts"
import { isArray, isObject, type JsonObject } from "../../wire/json/Json.ts"

/** Members of the inner request that Gemini's own API does not have, and refuses. */
const ofTheWrapper = new Set(["session_id", "sessionId", "labels"])

/** The request inside, with the model beside it, as `spokenOf` reads it; null where it is none. */
export const unwrapRequest = (body: JsonObject): JsonObject | null => {
  const { model, request } = body
  if (typeof model !== "string" || !isObject(request) || !isArray(request["contents"])) return null
  return { ...Object.fromEntries(Object.entries(request).filter(([name]) => !ofTheWrapper.has(name))), model }
}

const open = '{"response":'
const close = "}"
const newline = 10

const nothing = Buffer.alloc(0)
const openBytes = Buffer.from(open)
const closeBytes = Buffer.from(close)

const bytesOf = (chunk: Buffer | string): Buffer => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)

/** Wraps a line of a stream, one character per byte. An event that reports a failure could not be in `response`. */
const wrapLine = (line: string): string => {
  if (!line.startsWith("data: {") || /^data: \{\s*"error"/.test(line)) return line
  const end = line.endsWith("\r") ? line.length - 1 : line.length
  return `data: ${open}${line.slice("data: ".length, end)}${close}${line.slice(end)}`
}

/** Wraps the lines of a stream as they become whole. What is held is one line, which the wire's own reader has bounded. */
const makeLineWrapper = () => {
  let held: Array<Buffer> = []
  const take = (last: Buffer): string => {
    const text = Buffer.concat([...held, last]).toString("latin1")
    held = []
    return text.split("\n").map(wrapLine).join("\n")
  }
  return {
    push: (chunk: Buffer): Buffer => {
      const last = chunk.lastIndexOf(newline)
      const whole = last === -1 ? nothing : Buffer.from(take(chunk.subarray(0, last)) + "\n", "latin1")
      if (last + 1 < chunk.length) held.push(chunk.subarray(last + 1))
      return whole
    },
    /** Returns the bytes after the last line end. */
    end: (): Buffer => Buffer.from(take(nothing), "latin1")
  }
}

type Form = "none" | "whole" | "stream"

const formOf = (status: number, contentType: string): Form => {
  if (/event-stream/i.test(contentType)) return "stream"
  return status === 200 && /json/i.test(contentType) ? "whole" : "none"
}

/** A reply that writes what it is given into `reply`, wrapped. */
export const wrappingReply = (reply: ClientReply): ClientReply => {
  const lines = makeLineWrapper()
  let form: Form = "none"
  let hasBegun = false
  const changed = (chunk: Buffer | string): Buffer | string => {
    if (form === "none") return chunk
    if (form === "stream") return lines.push(bytesOf(chunk))
    if (hasBegun) return chunk
    hasBegun = true
    return Buffer.concat([openBytes, bytesOf(chunk)])
  }
  return wrapped(reply, {
    head: (status, headers) => {
      form = formOf(status, headerIn(headers, "content-type") ?? "")
      const length = headerIn(headers, "content-length")
      const isLonger = form === "whole" && length !== null
      const wrappedLength = String(Number(length) + openBytes.length + closeBytes.length)
      reply.head(status, isLonger ? withHeaders(headers, ["Content-Length", wrappedLength]) : headers)
    },
    write: (chunk) => reply.write(changed(chunk)),
    end: (chunk, trailers) => {
      if (form === "none") return reply.end(chunk, trailers)
      if (form === "whole") return reply.end(Buffer.concat([bytesOf(changed(chunk)), closeBytes]), trailers)
      reply.end(Buffer.concat([bytesOf(changed(chunk)), lines.end()]), trailers)
    }
  })
}
