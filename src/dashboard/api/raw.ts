/** Requests whose bodies or answers are no JSON: files, archives, and events of a server that tells how far it is. */
import { ApiError, readError } from "./ApiError.ts"
import { gatewayUrl } from "./client.ts"
import { csrfToken, ended } from "./session.ts"

export interface RawAsked {
  readonly method?: "GET" | "POST" | "DELETE"
  readonly body?: Blob | FormData | string | null
  readonly contentType?: string
  /** Id of the key whose files and batches they are; null: those of callers without a key. */
  readonly asKey?: string | null
  readonly signal?: AbortSignal
}

/** Address of a path of the gateway, for links. */
export const addressOf = (path: string): string => new URL(path, gatewayUrl).href

/** Sends it with the session; an answer that is an error is thrown in the API's words. */
export const raw = async (path: string, asked: RawAsked = {}): Promise<Response> => {
  const headers = new Headers({ "X-CSRF-Token": csrfToken.value ?? "" })
  if (asked.contentType !== undefined) headers.set("Content-Type", asked.contentType)
  if (asked.asKey !== undefined && asked.asKey !== null) headers.set("X-Gateway-As-Key", asked.asKey)
  const response = await fetch(addressOf(path), {
    method: asked.method ?? "GET",
    headers,
    body: asked.body ?? null,
    signal: asked.signal ?? null
  }).catch((error: unknown) => {
    throw asked.signal?.aborted === true ? error : ApiError.unreachable()
  })
  if (response.ok) return response
  const error = await readError(response)
  if (response.status === 401) ended()
  throw error
}

/** Saves an answer as a file of the browser. */
export const download = async (path: string, name: string, asked: RawAsked = {}): Promise<void> => {
  const response = await raw(path, asked)
  const link = document.createElement("a")
  const url = URL.createObjectURL(await response.blob())
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

export interface ServerEvent {
  readonly event: string
  readonly data: unknown
}

const eventOf = (block: string): ServerEvent | null => {
  const lines = block.split("\n")
  const event = lines.find((line) => line.startsWith("event:"))?.slice("event:".length)
  const data = lines.find((line) => line.startsWith("data:"))?.slice("data:".length)
  return event === undefined || data === undefined ? null : { event: event.trim(), data: JSON.parse(data) as unknown }
}

/** Reads server-sent events as they come, until there are no more. */
export const readEvents = async (response: Response, onEvent: (event: ServerEvent) => void): Promise<void> => {
  if (response.body === null) return
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let rest = ""
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + decoder.decode(part.value, { stream: true })).split("\n\n")
    rest = blocks.pop() ?? ""
    for (const block of blocks) {
      const event = eventOf(block)
      if (event !== null) onEvent(event)
    }
  }
}
