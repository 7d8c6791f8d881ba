/** Answers of the edge that are made at once, and have no usage row. */
import type { EdgeRoute } from "../../contract/EdgeRoutes.ts"
import type { ClientReply } from "../../plane/request/Exchange.ts"
import { identityHeaders } from "../../plane/request/Headers.ts"
import { type InferenceError, describe } from "../../domain/Errors.ts"
import { codecs } from "../../wire/Codec.ts"

export interface PlainAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
  /** More headers: name, value, name, value, … */
  readonly more?: ReadonlyArray<string>
}

export const sendPlain = (
  reply: ClientReply,
  requestId: string,
  { body, more = [], status, type }: PlainAnswer
): void => {
  const headers = identityHeaders(requestId)
  headers.push("Content-Type", type, "Content-Length", String(Buffer.byteLength(body)), ...more)
  reply.head(status, headers)
  reply.end(body)
}

export const sendJson = (reply: ClientReply, requestId: string, status: number, value: unknown): void =>
  sendPlain(reply, requestId, { status, type: "application/json", body: JSON.stringify(value) })

/** Refuses a request that has no usage row. */
export const refusePlain = (reply: ClientReply, requestId: string, route: EdgeRoute, error: InferenceError): void => {
  const view = describe(error)
  sendJson(reply, requestId, view.status, codecs[route.wire ?? "chat"].renderError(view, requestId))
}
