/** A record without secrets, for what leaves the inspector: what is kept may be unmasked where the operator wants it so. Pure. */
import type { TrafficRecord } from "../../../contract/domain/TrafficRecord.ts"
import { maskForm, maskHeaders, maskText, maskUrl } from "./Masking.ts"

const maskBody = (body: string | null, encoding: "utf8" | "base64", contentType: string): string | null => {
  if (body === null) return null
  if (encoding === "utf8") return /x-www-form-urlencoded/i.test(contentType) ? maskForm(body) : maskText(body)
  const text = Buffer.from(body, "base64").toString("latin1")
  const masked = maskText(text)
  return masked === text ? body : Buffer.from(masked, "latin1").toString("base64")
}

export const maskRecord = (record: TrafficRecord): TrafficRecord => ({
  ...record,
  path: maskUrl(record.path),
  error: record.error === null ? null : maskText(record.error),
  requestHeaders: maskHeaders(record.requestHeaders),
  responseHeaders: maskHeaders(record.responseHeaders),
  requestBody: maskBody(record.requestBody, record.requestEncoding, record.requestHeaders["content-type"] ?? ""),
  responseBody: maskBody(record.responseBody, record.responseEncoding, record.responseHeaders["content-type"] ?? "")
})
