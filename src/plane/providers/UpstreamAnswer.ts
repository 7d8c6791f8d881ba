/** Reads the answers to small calls to upstreams: their JSON, and their reasons as text for people. Pure. */
import type { Connection } from "../../subjects/connections/entity.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import type { RequestError } from "../../net/egress/Upstream.ts"
import { scrub } from "../../kernel/secrets/Scrub.ts"
import { secretsOf } from "./Catalog.ts"

/** Null when it is no JSON. */
export const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return null
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Most characters of an upstream's message that are looked at. */
const maxWords = 4_000

/** The upstream's own words about an error status, short and without the credential it was sent. */
export const reasonOf = (connection: Connection, spec: ProviderSpec, status: number, body: Buffer): string => {
  const parsed = parse(body)
  const error = isRecord(parsed) ? (parsed.error ?? parsed.message ?? parsed.detail) : null
  const message = isRecord(error) ? (error.message ?? error.detail ?? error.error) : error
  return typeof message === "string" && message !== ""
    ? `${status}: ${scrub(message.slice(0, maxWords), secretsOf(connection, spec)).slice(0, 300)}`
    : `The upstream answered ${status}.`
}

export const failureText = (error: RequestError): string => {
  switch (error._tag) {
    case "TransportFailure":
      return error.message
    case "ResponseTooLarge":
      return "The upstream's answer is too large."
    case "TimedOut":
      return `The upstream did not answer within ${error.timeoutMs / 1000} s.`
  }
}
