/** Reads error answers of upstreams, up to a limit, for classification and for the client. */
import type { UpstreamHeaders } from "../../net/egress/UpstreamHeaders.ts"
import { closeCutJson } from "../../wire/json/CutJson.ts"
import { parseJson } from "../../wire/json/Json.ts"
import { type AttemptResult, type BodyReader, failed } from "./AttemptResult.ts"
import { noReport } from "../request/AnswerReport.ts"
import { makeCollector } from "../request/Collector.ts"
import { passedHeaders } from "./PassedHeaders.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"

/** Bytes of an error answer that are read; the rest is dropped. */
const maxErrorBytes = 64 * 1024

/** Most characters that close a text that was cut. */
const closingChars = 512

/** The beginning of a JSON body is closed, so that its codes and words can be read; everything else stays as it came. */
const readable = (text: string): string => {
  const begins = text.trimStart().charAt(0)
  if ((begins !== "{" && begins !== "[") || parseJson(text) !== undefined) return text
  return closeCutJson(text.slice(0, maxErrorBytes - closingChars)) ?? text
}

/** Reads an error answer and keeps the upstream's own words. */
export const errorReader = (call: UpstreamCall, status: number, headers: UpstreamHeaders): BodyReader => {
  const body = makeCollector(maxErrorBytes)
  let leftBytes = maxErrorBytes
  const result = (): AttemptResult => {
    const bodyText = readable(body.all().toString("utf8"))
    const problem = call.codec.readUpstreamError(status, bodyText)
    return failed({
      status: problem.status,
      reason: `http_${status}`,
      message: problem.message,
      words: {
        status,
        header: (name) => headers.get(name),
        bodyText,
        problem,
        wire: call.wire,
        passed: passedHeaders(headers),
        place: "status"
      }
    })
  }
  return {
    data: (chunk) => {
      // The beginning is kept of a body that is longer than that.
      if (leftBytes > 0) body.add(chunk.subarray(0, leftBytes))
      leftBytes -= Math.min(leftBytes, chunk.length)
      return true
    },
    end: result,
    // The status line already said what matters.
    broken: result,
    report: () => noReport,
    release: () => {},
    firstContentMs: () => null
  }
}
