/** Answers of the edge that are made at once, and have no usage row. */
import { createHash } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import type { EdgeRoute } from "../../contract/EdgeRoutes.ts"
import type { ClientReply } from "../../plane/request/Exchange.ts"
import { identityHeaders } from "../../plane/request/Headers.ts"
import { type InferenceError, describe } from "../../contract/domain/Errors.ts"
import { namesWeakly, tagCondition } from "../../kernel/text/EntityTags.ts"
import { codedFromBytes, codingFor, inCoding, varyingBy } from "../listening/AnswerCodings.ts"
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

/** Longest list of known tags that is compared. */
const maxKnown = 8_192

const hasIt = (known: string | undefined, tag: string): boolean => {
  if (known === undefined || known.length > maxKnown) return false
  const condition = tagCondition(known)
  return condition !== null && namesWeakly(condition, tag)
}

/**
 * Sends an answer that no model is waited for: not again to who has it, and in a coding that the client takes. The bytes are the same for as long
 * as what is on offer is, so a tag is worth it.
 */
export const sendCoded = (
  reply: ClientReply,
  requestId: string,
  { "accept-encoding": accepted, "if-none-match": known }: IncomingHttpHeaders,
  { body, more = [], status, type }: PlainAnswer,
  /** `Vary` of the answer so far. */
  vary?: string
): void => {
  const bytes = Buffer.from(body)
  const coding = bytes.length < codedFromBytes ? null : codingFor(String(accepted ?? ""))
  const tag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}${coding === null ? "" : `+${coding}`}"`
  const headers = identityHeaders(requestId)
  headers.push("Vary", varyingBy("Accept-Encoding", vary), "Cache-Control", "no-store", "ETag", tag, ...more)
  if (hasIt(known, tag)) {
    reply.head(304, headers)
    return reply.end("")
  }
  const send = (content: Buffer, ...coded: ReadonlyArray<string>): void => {
    if (reply.isClosed()) return
    headers.push("Content-Type", type, "Content-Length", String(content.length), ...coded)
    reply.head(status, headers)
    reply.end(content)
  }
  if (coding === null) return send(bytes)
  inCoding(coding, bytes, "once", (coded) => (coded === null ? send(bytes) : send(coded, "Content-Encoding", coding)))
}

export const sendJson = (reply: ClientReply, requestId: string, status: number, value: unknown): void =>
  sendPlain(reply, requestId, { status, type: "application/json", body: JSON.stringify(value) })

/** Refuses a request that has no usage row. */
export const refusePlain = (reply: ClientReply, requestId: string, route: EdgeRoute, error: InferenceError): void => {
  const view = describe(error)
  sendJson(reply, requestId, view.status, codecs[route.wire ?? "chat"].renderError(view, requestId))
}
