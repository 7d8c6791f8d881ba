/** Reads what is imported as a session: an HTTP archive, or the JSON lines that the inspector exports, which become one. Pure. */

type Headers = Readonly<Record<string, string>>

/** The members of an exported record that an archive has a place for. */
interface Line {
  readonly timestamp: string
  readonly method: string
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly httpVersion: string | null
  readonly status: number | string
  readonly error: string | null
  readonly requestHeaders: Headers
  readonly requestBody: string | null
  readonly requestEncoding: "utf8" | "base64"
  readonly requestTruncated: boolean
  readonly requestSize: number
  readonly responseHeaders: Headers
  readonly responseBody: string | null
  readonly responseEncoding: "utf8" | "base64"
  readonly responseTruncated: boolean
  readonly responseSize: number
  readonly totalLatencyMs: number | null
  readonly upstreamLatencyMs: number | null
}

/** Further members, which an archive has under a name of ours. */
const kept = {
  source: "_source",
  agent: "_agent",
  detectedKind: "_detectedKind",
  contextKey: "_contextKey",
  sessionId: "_sessionId",
  annotation: "_annotation",
  note: "_note",
  pid: "_pid",
  processName: "_processName",
  id: "_gatewayId",
  gatewayRequestId: "_gatewayRequestId",
  llm: "_llm"
} as const

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** A record of the inspector; what is neither is told by its line. */
const isLine = (value: unknown): value is Line & Json =>
  isObject(value) &&
  [value["timestamp"], value["method"], value["host"], value["path"]].every((each) => typeof each === "string") &&
  isObject(value["requestHeaders"]) &&
  isObject(value["responseHeaders"])

/** Headers that came several times have line ends in them. */
const headersOf = (headers: Headers) =>
  Object.entries(headers).flatMap(([name, value]) =>
    String(value)
      .split("\n")
      .map((line) => ({ name, value: line }))
  )

const addressOf = ({ host, path, scheme }: Line): string => {
  // A tunnel has its port for a path.
  if (/^:\d+$/.test(path)) return `https://${host}${path}/`
  return `${scheme}://${host}${path.startsWith("/") ? "" : "/"}${path}`
}

const typeOf = (headers: Headers): string => headers["content-type"] ?? "application/octet-stream"

const postDataOf = ({ requestBody, requestEncoding, requestHeaders, requestTruncated }: Line): object =>
  requestBody === null
    ? {}
    : {
        postData: {
          mimeType: typeOf(requestHeaders),
          text: requestBody,
          ...(requestEncoding === "base64" ? { _encoding: "base64" } : {}),
          ...(requestTruncated ? { comment: "truncated" } : {})
        }
      }

const contentOf = ({ responseBody, responseEncoding, responseHeaders, responseSize, responseTruncated }: Line) => ({
  size: responseSize,
  mimeType: typeOf(responseHeaders),
  ...(responseBody === null ? {} : { text: responseBody }),
  ...(responseBody !== null && responseEncoding === "base64" ? { encoding: "base64" } : {}),
  ...(responseTruncated ? { comment: "truncated" } : {})
})

const entryOf = (line: Line & Json) => {
  const { status, totalLatencyMs, upstreamLatencyMs } = line
  const httpVersion = line.httpVersion ?? "HTTP/1.1"
  const time = totalLatencyMs ?? upstreamLatencyMs ?? 0
  const wait = Math.min(time, upstreamLatencyMs ?? time)
  const error = typeof status === "number" ? line.error : (line.error ?? status)
  return {
    startedDateTime: line.timestamp,
    time,
    request: {
      method: line.method,
      url: addressOf(line),
      httpVersion,
      cookies: [],
      headers: headersOf(line.requestHeaders),
      queryString: [],
      ...postDataOf(line),
      headersSize: -1,
      bodySize: line.requestSize
    },
    response: {
      status: typeof status === "number" ? status : 0,
      statusText: "",
      httpVersion,
      cookies: [],
      headers: headersOf(line.responseHeaders),
      content: contentOf(line),
      redirectURL: line.responseHeaders["location"] ?? "",
      headersSize: -1,
      bodySize: line.responseSize
    },
    cache: {},
    timings: { send: 0, wait, receive: time - wait },
    ...(status === "in-flight" ? { comment: "in-flight" } : {}),
    ...(error === null ? {} : { _error: error }),
    ...Object.fromEntries(Object.entries(kept).map(([member, name]) => [name, line[member] ?? null]))
  }
}

export type Archive =
  /** `log` is checked by the gateway, which says what is wrong with it. */
  | { readonly _tag: "Archive"; readonly archive: { readonly log: Json } }
  /** `line` from 1; null: it is no JSON at all. */
  | { readonly _tag: "Unknown"; readonly line: number | null }

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Reads an archive as one JSON object with `log`, everything else line by line. */
export const readArchive = (text: string): Archive => {
  const whole = parsed(text)
  if (isObject(whole) && "log" in whole) return { _tag: "Archive", archive: { log: whole["log"] as Json } }
  const lines = text.split("\n")
  const entries: Array<object> = []
  for (const [at, line] of lines.entries()) {
    if (line.trim() === "") continue
    const read = parsed(line)
    if (!isLine(read)) return { _tag: "Unknown", line: read === undefined && entries.length === 0 ? null : at + 1 }
    entries.push(entryOf(read))
  }
  if (entries.length === 0) return { _tag: "Unknown", line: null }
  const log = { version: "1.2", creator: { name: "Gateway", version: "" }, entries }
  return { _tag: "Archive", archive: { log } }
}
