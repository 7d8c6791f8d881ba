/** One request over HTTP/2 and its answer: two streams that pass on what the other says, as `relay` of `HttpRelay` does it. */
import type {
  ClientHttp2Stream,
  constants as NodeConstants,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
  ServerHttp2Stream
} from "node:http2"
import type { Socket } from "node:net"
import type { CapturedEnd, RawHeaders } from "../CaptureSink.ts"
import type { Exchange } from "./Exchange.ts"
import { bytesOf, recordedHeaders } from "./Http2Headers.ts"
import { maxHeadBytes } from "./HttpRelay.ts"

export type Http2Headers = IncomingHttpHeaders & { readonly ":status"?: number }

export interface StreamPair {
  /** Stream of the client. */
  readonly stream: ServerHttp2Stream
  /** Stream of the server. */
  readonly asked: ClientHttp2Stream
  readonly serverSocket: Socket
  readonly exchange: Exchange
  readonly constants: typeof NodeConstants
  /** Headers for the other side. */
  readonly copied: (headers: Http2Headers, raw: RawHeaders) => OutgoingHttpHeaders
  /** Resets the client's stream. */
  readonly breakOff: (stream: ServerHttp2Stream, code: number) => void
}

/** Names of resets by their codes (RFC 9113, 7). */
const resetNames = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED"
]

const resetError = (code: number): NonNullable<CapturedEnd["error"]> => {
  const name = `NGHTTP2_${resetNames[code] ?? code}`
  return { code: name, message: `The server broke the request off: ${name}.` }
}

const connectionBroke = (code: string): NonNullable<CapturedEnd["error"]> => ({
  code,
  message: `The connection to the server broke: ${code}.`
})

const clientLeft = { code: "ECONNABORTED", message: "The client left before the answer was complete." }

/** Checks whether Node took headers of the other side: it throws for what may not stand there. */
const unlessRefused = (write: () => void): boolean => {
  try {
    write()
    return true
  } catch {
    return false
  }
}

export const relayStream = ({
  asked,
  breakOff,
  constants,
  copied,
  exchange,
  serverSocket,
  stream
}: StreamPair): void => {
  let trailers: OutgoingHttpHeaders = {}
  let answerTrailers: OutgoingHttpHeaders = {}
  /** Error of the server's side, where that broke before the client's. */
  let broken: CapturedEnd["error"] = null
  /** All of the answer has come. */
  let isWhole = false

  if (asked.pending) asked.once("ready", () => exchange.sent())
  else exchange.sent()
  asked
    .on("headers", (headers: Http2Headers, _flags: number, raw: RawHeaders) => {
      if (stream.closed || stream.destroyed || stream.headersSent) return
      // What may not stand before a head, such as a switch of protocols, is left out.
      unlessRefused(() => stream.additionalHeaders(copied(headers, raw)))
    })
    .once("response", (headers: Http2Headers, flags: number, raw: RawHeaders) => {
      exchange.answered(headers[":status"] ?? 0, recordedHeaders(raw))
      if (stream.closed || stream.destroyed) return
      // Node holds to what was agreed only after the other side has said so.
      if (bytesOf(raw) > maxHeadBytes) {
        broken ??= { code: "HPE_HEADER_OVERFLOW", message: "The answer's head is too long." }
        return breakOff(stream, constants.NGHTTP2_INTERNAL_ERROR)
      }
      const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
      const how = { endStream, waitForTrailers: !endStream, sendDate: false }
      if (!unlessRefused(() => stream.respond(copied(headers, raw), how))) {
        broken ??= { code: "ERR_INVALID_CHAR", message: "The answer's head cannot be passed on." }
        return breakOff(stream, constants.NGHTTP2_INTERNAL_ERROR)
      }
      if (endStream) asked.resume()
      else asked.pipe(stream, { end: false })
    })
    .on("trailers", (headers: Http2Headers, _flags: number, raw: RawHeaders) => (answerTrailers = copied(headers, raw)))
    .on("wantTrailers", () => {
      if (asked.closed || asked.destroyed) return
      if (!unlessRefused(() => asked.sendTrailers(trailers))) asked.close(constants.NGHTTP2_INTERNAL_ERROR)
    })
    .on("data", (chunk: Buffer) => exchange.responseBody.add(chunk))
    // A stream that was reset ends as well.
    .once("end", () => {
      if (asked.rstCode !== constants.NGHTTP2_NO_ERROR || !stream.headersSent) return
      isWhole = true
      stream.end()
    })
    .on("error", (error: NodeJS.ErrnoException) => {
      const code = error.code ?? "ECONNRESET"
      if (!code.startsWith("ERR_HTTP2_")) broken ??= connectionBroke(code)
    })
    .once("close", () => {
      if (isWhole) {
        // The server does not want the rest of the request.
        if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
        return
      }
      const code = asked.rstCode ?? constants.NGHTTP2_NO_ERROR
      const isReset = code !== constants.NGHTTP2_NO_ERROR && !serverSocket.destroyed
      broken ??= isReset ? resetError(code) : connectionBroke("ECONNRESET")
      breakOff(stream, isReset ? code : constants.NGHTTP2_INTERNAL_ERROR)
    })
  stream
    .on("trailers", (headers: Http2Headers, _flags: number, raw: RawHeaders) => (trailers = copied(headers, raw)))
    .on("wantTrailers", () => {
      if (stream.closed || stream.destroyed || unlessRefused(() => stream.sendTrailers(answerTrailers))) return
      isWhole = false
      broken ??= { code: "ERR_INVALID_CHAR", message: "The answer's trailers cannot be passed on." }
      breakOff(stream, constants.NGHTTP2_INTERNAL_ERROR)
    })
    .on("data", (chunk: Buffer) => exchange.requestBody.add(chunk))
    .once("end", () => {
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR && !stream.aborted) asked.end()
    })
    .once("close", () => {
      exchange.end(isWhole && stream.writableFinished ? null : (broken ?? clientLeft))
      if (asked.closed || asked.destroyed) return
      asked.close(stream.rstCode === constants.NGHTTP2_NO_ERROR ? constants.NGHTTP2_CANCEL : stream.rstCode)
    })
  stream.pipe(asked, { end: false })
}
