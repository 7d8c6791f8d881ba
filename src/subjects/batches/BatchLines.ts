/**
 * Lines of the input file and of the files with the results. Pure.
 * https://platform.openai.com/docs/api-reference/batch/request-input and …/request-output
 */
import { notJson, readForeignJson, Unreadable } from "../../wire/json/Bounds.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { isObject, type JsonObject, stringOr } from "../../wire/json/Json.ts"
import { read } from "../../wire/json/Members.ts"
import { makeSpelling } from "../../wire/json/Spelling.ts"

/** Bytes of a line of the input. */
export const maxLineBytes = 16 * 1_048_576
const maxCustomIdChars = 512

export interface LineProblem {
  readonly code: string
  readonly message: string
  readonly param: string | null
}

export type ReadLine =
  | { readonly _tag: "Request"; readonly customId: string; readonly body: JsonObject }
  /** `customId` is null where the line has none. */
  | { readonly _tag: "Broken"; readonly customId: string | null; readonly problem: LineProblem }

const problem = (code: string, message: string, param: string | null = null): LineProblem => ({ code, message, param })

/** The members of a line. Those of its body are checked by the reader of every request. */
const misspelt = makeSpelling(read("custom_id", "method", "url", "body"))

const problemOf = (line: JsonObject, customId: string | null, endpoint: string): LineProblem | null => {
  const { body, custom_id: given, method, url } = line
  const wrong = misspelt(line)
  if (wrong !== null) return problem("invalid_json_line", wrong.message, wrong.path)
  if (given === undefined) return problem("missing_required_parameter", "'custom_id' is missing.", "custom_id")
  if (customId === null) {
    const message = `'custom_id' must be a text of 1 to ${maxCustomIdChars} characters.`
    return problem("invalid_custom_id", message, "custom_id")
  }
  if (method !== "POST") return problem("invalid_method", "'method' must be POST.", "method")
  if (url !== endpoint) return problem("invalid_url", `'url' must be the batch's endpoint, ${endpoint}.`, "url")
  if (!isObject(body)) return problem("missing_required_parameter", "'body' must be a JSON object.", "body")
  return body["stream"] === true
    ? problem("invalid_value", "A line of a batch cannot be answered as a stream: leave 'stream' out.", "body.stream")
    : null
}

/** `bytes` is null for a line beyond the limit. `seen` has the ids of the lines before, and gets this one's. */
export const readLine = (bytes: Buffer | null, endpoint: string, seen: Set<string>): ReadLine => {
  if (bytes === null) {
    const message = `The line is longer than ${maxLineBytes / 1_048_576} MiB.`
    return { _tag: "Broken", customId: null, problem: problem("line_too_long", message) }
  }
  const line = readForeignJson(bytes.toString("utf8"), maxTopMembers)
  if (line instanceof Unreadable || !isObject(line)) {
    const isJson = line instanceof Unreadable && line !== notJson
    const message = isJson ? line.message : "The line is not a JSON object."
    return {
      _tag: "Broken",
      customId: null,
      problem: problem("invalid_json_line", message, isJson ? line.param : null)
    }
  }
  const given = stringOr(line["custom_id"])
  const customId = given === null || given === "" || given.length > maxCustomIdChars ? null : given
  if (customId !== null) {
    if (seen.has(customId)) {
      const message = "An earlier line has the same 'custom_id'. It was asked, this one was not."
      return { _tag: "Broken", customId, problem: problem("duplicate_custom_id", message, "custom_id") }
    }
    seen.add(customId)
  }
  const wrong = problemOf(line, customId, endpoint)
  return wrong !== null || customId === null
    ? { _tag: "Broken", customId, problem: wrong ?? problem("invalid_custom_id", "'custom_id' is wrong.", "custom_id") }
    : { _tag: "Request", customId, body: line["body"] as JsonObject }
}

/** Result of a line. */
export interface LineResult {
  readonly line: number
  /** True when it belongs into the output file, and not into the file of errors. */
  readonly isCompleted: boolean
  /** JSON of its line in the file, without the line feed. */
  readonly json: string
}

/** The same at every attempt. */
const idOf = (batchId: string, line: number): string => `batch_req_${batchId.replace(/^batch_/, "")}_${line}`

const oneLine = (body: string): string => {
  try {
    const value: unknown = JSON.parse(body)
    // As the model's provider wrote it, numbers included.
    return /[\n\r\u2028\u2029]/.test(body) ? JSON.stringify(value) : body
  } catch {
    return JSON.stringify(body)
  }
}

export interface LineAnswer {
  readonly requestId: string
  readonly status: number
  readonly body: string
}

export const answeredLine = (
  batchId: string,
  line: number,
  customId: string,
  { body, requestId, status }: LineAnswer
): LineResult => ({
  line,
  isCompleted: status >= 200 && status < 300,
  json:
    `{"id":"${idOf(batchId, line)}","custom_id":${JSON.stringify(customId)},` +
    `"response":{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${oneLine(body)}},"error":null}`
})

/** A line that was not asked. */
export const failedLine = (
  batchId: string,
  line: number,
  customId: string | null,
  { code, message, param }: LineProblem
): LineResult => ({
  line,
  isCompleted: false,
  json: JSON.stringify({
    id: idOf(batchId, line),
    custom_id: customId,
    response: null,
    error: { code, message, param, line }
  })
})

export const expired: LineProblem = problem(
  "batch_expired",
  "The line was not answered before the batch expired. Send it again in another batch."
)
