/** What a record is read as: a conversation, or the parts of its prompt. Pure. */
import { isObject, type JsonObject } from "../wire/json/Json.ts"
import { withoutNotice } from "./Bodies.ts"
import { type Anatomy, anatomyOf } from "./reading/Anatomy.ts"
import { parsePerhapsCut } from "./reading/Answer.ts"
import { type ConversationView, conversationOf, type ReadableBody } from "./reading/Conversation.ts"
import type { BodyEncoding, RecordHeaders, TrafficRecord } from "../domain/TrafficRecord.ts"

const readable = (
  body: string | null,
  encoding: BodyEncoding,
  headers: RecordHeaders,
  isTruncated: boolean
): ReadableBody | null =>
  body === null || encoding === "base64"
    ? null
    : { text: isTruncated ? withoutNotice(body) : body, contentType: headers["content-type"] ?? "", isCut: isTruncated }

const requestOf = ({
  requestBody,
  requestEncoding,
  requestHeaders,
  requestTruncated
}: TrafficRecord): ReadableBody | null => readable(requestBody, requestEncoding, requestHeaders, requestTruncated)

export const conversationIn = (record: TrafficRecord): ConversationView => {
  const { path, responseBody, responseEncoding, responseHeaders, responseTruncated } = record
  const view = conversationOf({
    path,
    request: requestOf(record),
    response: readable(responseBody, responseEncoding, responseHeaders, responseTruncated)
  })
  // That of the whole request, as it was sent.
  return record.contextKey === null ? view : { ...view, contextKey: record.contextKey }
}

/** The request's body as JSON; null when it is none, or is no longer kept. Of one that was cut, what is there. */
export const requestJsonOf = (record: TrafficRecord): JsonObject | null => {
  const request = requestOf(record)
  const body = request === null ? undefined : parsePerhapsCut(request.text, request.isCut)
  return isObject(body) ? body : null
}

/** Null where there is no request in JSON. */
export const anatomyIn = (record: TrafficRecord): Anatomy | null => {
  const request = requestOf(record)
  const body = requestJsonOf(record)
  return request === null || body === null ? null : anatomyOf(body, Buffer.byteLength(request.text))
}
