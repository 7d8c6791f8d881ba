/** Decides which of the client's headers belong to a wire, and merges them with those of the endpoint. Pure. */
import { headerOf, type RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { WireName } from "../../contract/domain/Wire.ts"

/** Client headers that belong to the format itself and travel with a body that is passed through. */
const formatHeaders: Readonly<Record<WireName, ReadonlyArray<string>>> = {
  chat: ["openai-beta"],
  messages: ["anthropic-version", "anthropic-beta"],
  responses: ["openai-beta"],
  gemini: [],
  ollama: []
}

/**
 * The endpoint's headers, and the format's from the client where the body is in the client's own wire: it was written for the
 * version the client names; the endpoint's default is for bodies we write. `passes`: what else of the client's goes on, in its order, where the
 * endpoint has no such header. Names and values in turn.
 */
export const callHeaders = (
  endpointHeaders: ReadonlyArray<string>,
  clientHeaders: RequestHeaders,
  ownWire: WireName | null,
  passes: RegExp | null = null
): Array<string> => {
  const headers: Array<string> = []
  const own = ownWire === null ? [] : formatHeaders[ownWire]
  for (let i = 0; i + 1 < endpointHeaders.length; i += 2) {
    const name = endpointHeaders[i] ?? ""
    if (own.includes(name) && headerOf(clientHeaders, name) !== null) continue
    headers.push(name, endpointHeaders[i + 1] ?? "")
  }
  const others = passes === null ? [] : Object.keys(clientHeaders).filter((name) => passes.test(name))
  for (const name of new Set([...others, ...own])) {
    const value = headerOf(clientHeaders, name)
    if (value !== null && !hasHeader(headers, name)) headers.push(name, value)
  }
  return headers
}

const hasHeader = (headers: ReadonlyArray<string>, name: string): boolean =>
  headers.some((present, at) => at % 2 === 0 && present === name)
