/** Sends what a form has put together. */
import { ApiError, readError } from "../api/ApiError.ts"
import { gatewayUrl, renewToken } from "../api/client.ts"
import { csrfToken, ended } from "../api/session.ts"
import type { Operation, Parameter } from "./operations.ts"

export interface Answered {
  readonly status: number
  /** Null: empty. */
  readonly text: string | null
  /** Version that is there now; null: the answer does not say. */
  readonly tag: string | null
}

/** The address of an operation with what was typed for its parameters. */
export const addressOf = ({ parameters, path }: Operation, typed: Readonly<Record<string, string>>): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(typed[name] ?? ""))
  const query = new URLSearchParams()
  for (const { in: place, name } of parameters) {
    if (place === "query" && (typed[name] ?? "") !== "") query.set(name, typed[name] ?? "")
  }
  return new URL(`${filled.slice(1)}${query.size === 0 ? "" : `?${query.toString()}`}`, gatewayUrl).href
}

/** Members of the address that are needed and were not typed. */
export const missing = (
  parameters: ReadonlyArray<Parameter>,
  typed: Readonly<Record<string, string>>
): ReadonlyArray<string> =>
  parameters.filter(({ isRequired, name }) => isRequired && (typed[name] ?? "") === "").map(({ name }) => name)

interface Sent {
  /** Version that was edited: the answer is 412 where it is another one by now. */
  readonly ifMatch?: string | undefined
  /** Sent once more, with a new token. */
  readonly isAgain?: boolean
}

export const send = async (method: string, url: string, body: unknown, sent: Sent = {}): Promise<Answered> => {
  const headers = new Headers()
  if (sent.ifMatch !== undefined) headers.set("If-Match", sent.ifMatch)
  if (body !== null) headers.set("Content-Type", "application/json")
  if (method !== "GET" && csrfToken.value !== null) headers.set("X-CSRF-Token", csrfToken.value)
  const response = await fetch(url, { method, headers, body: body === null ? null : JSON.stringify(body) }).catch(
    () => {
      throw ApiError.unreachable()
    }
  )
  if (!response.ok) {
    const error = await readError(response)
    if (error.code === "csrf_token_invalid" && sent.isAgain !== true && (await renewToken())) {
      return send(method, url, body, { ...sent, isAgain: true })
    }
    if (response.status === 401) ended()
    throw error
  }
  const text = await response.text()
  return { status: response.status, text: text === "" ? null : text, tag: response.headers.get("etag") }
}

/** JSON as people read it; other text as it is. */
export const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
