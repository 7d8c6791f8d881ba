/** Reads the answer to a chat request as a client does: text as it comes, and how it ended. Pure, with a state of its own. */
import { isArray, isObject, type Json, type JsonObject, objectOr, parseJson, stringOr } from "../../wire/json/Json.ts"
import { makeSseScanner } from "../../wire/sse/SseScanner.ts"

/** Error in the gateway's own form. */
export interface ColumnError {
  readonly message: string
  readonly type: string
  readonly code: string
  /** HTTP status; null where the answer had begun already. */
  readonly status: number | null
}

export interface ChatStreamReader {
  readonly head: (status: number, headers: ReadonlyArray<string>) => void
  readonly push: (chunk: Buffer | string) => void
  /** Null: it ended as an answer does. Called once. */
  readonly end: () => ColumnError | null
}

export interface ChatStreamEvents {
  /** Receives text; never empty. */
  readonly text: (text: string) => void
  /** A token came, of the text or of the thoughts before it. */
  readonly token: () => void
}

/** An event, an answer that is no stream, or an error. */
const maxBytes = 16 * 1_048_576

const broken: ColumnError = {
  message: "The answer broke off.",
  type: "server_error",
  code: "incomplete_answer",
  status: null
}

const errorOf = (body: Json | undefined, status: number | null): ColumnError => {
  const error = objectOr(objectOr(body)["error"])
  return {
    message: stringOr(error["message"]) ?? (status === null ? broken.message : `The status is ${status}.`),
    type: stringOr(error["type"]) ?? "server_error",
    code: stringOr(error["code"]) ?? "upstream_error",
    status
  }
}

const textOf = (content: Json | undefined): string => {
  if (typeof content === "string") return content
  return isArray(content) ? content.map((part) => stringOr(objectOr(part)["text"]) ?? "").join("") : ""
}

const thoughtOf = (delta: JsonObject): string =>
  stringOr(delta["reasoning_content"]) ?? stringOr(delta["reasoning"]) ?? ""

/** `application/json` of a stream that was asked for: it is an error, or an answer that was whole already. */
const isStreamed = (headers: ReadonlyArray<string>): boolean =>
  headers.some(
    (value, at) => at % 2 === 1 && headers[at - 1] === "Content-Type" && value.startsWith("text/event-stream")
  )

export const makeChatStreamReader = (events: ChatStreamEvents): ChatStreamReader => {
  const scanner = makeSseScanner(maxBytes)
  let status = 0
  let streams = false
  let whole: Array<Buffer> = []
  let wholeBytes = 0
  let failure: ColumnError | null = null
  let isComplete = false

  const say = (text: string): void => {
    if (text === "") return
    events.token()
    events.text(text)
  }

  const readChoice = (choice: Json | undefined): void => {
    const { delta, finish_reason: reason, message } = objectOr(choice)
    const said = objectOr(delta ?? message)
    if (thoughtOf(said) !== "") events.token()
    say(textOf(said["content"]))
    if (typeof reason === "string") isComplete = true
  }

  const readChunk = (value: Json | undefined): void => {
    if (!isObject(value)) return
    if (isObject(value["error"])) {
      failure ??= errorOf(value, null)
      return
    }
    if (isArray(value["choices"])) for (const choice of value["choices"].slice(0, 1)) readChoice(choice)
  }

  const readEvents = (found: ReadonlyArray<{ readonly data: string }>): void => {
    for (const { data } of found) {
      if (data.trim() === "[DONE]") isComplete = true
      else readChunk(parseJson(data))
    }
  }

  return {
    head: (answered, headers) => {
      status = answered
      streams = answered === 200 && isStreamed(headers)
    },
    push: (chunk) => {
      if (chunk.length === 0) return
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk
      if (streams) return readEvents(scanner.push(bytes))
      wholeBytes += bytes.length
      if (wholeBytes <= maxBytes) whole.push(bytes)
    },
    end: () => {
      if (streams) {
        readEvents(scanner.end())
        return failure ?? (isComplete ? null : broken)
      }
      const body = parseJson(Buffer.concat(whole).toString())
      whole = []
      if (status !== 200) return errorOf(body, status === 0 ? null : status)
      readChunk(body)
      return failure ?? (isComplete ? null : broken)
    }
  }
}
