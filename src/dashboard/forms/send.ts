/** Sends what a form has put together. */
import { ApiError, readError } from "../api/ApiError.ts"
import { gatewayUrl, renewToken } from "../api/client.ts"
import { csrfToken, ended } from "../api/session.ts"
import type { Operation, Parameter } from "./operations.ts"

export interface Answered {
  readonly status: number
  /** Null: empty. */
  readonly text: string | null
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

export const send = async (method: string, url: string, body: unknown, isAgain = false): Promise<Answered> => {
  const headers = new Headers()
  if (body !== null) headers.set("Content-Type", "application/json")
  if (method !== "GET" && csrfToken.value !== null) headers.set("X-CSRF-Token", csrfToken.value)
  const response = await fetch(url, { method, headers, body: body === null ? null : JSON.stringify(body) }).catch(
    () => {
      throw ApiError.unreachable()
    }
  )
  if (!response.ok) {
    const error = await readError(response)
    if (error.code === "csrf_token_invalid" && !isAgain && (await renewToken())) return send(method, url, body, true)
    if (response.status === 401) ended()
    throw error
  }
  const text = await response.text()
  return { status: response.status, text: text === "" ? null : text }
}

/** JSON as people read it; other text as it is. */
export const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
