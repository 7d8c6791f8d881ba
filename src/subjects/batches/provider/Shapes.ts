/**
 * OpenAI's batches as a client of them sees them: where they are, what they are, and what their files say of a line. Pure.
 * https://platform.openai.com/docs/api-reference/batch and https://platform.openai.com/docs/api-reference/files
 */
import { readAnswerJson, Unreadable } from "../../../wire/json/Bounds.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../../wire/json/Json.ts"

/** States in which a provider does nothing for a batch any more. */
const overStates = ["completed", "failed", "expired", "cancelled"] as const
export type OverState = (typeof overStates)[number]

export interface RemoteBatch {
  readonly id: string
  readonly inputFileId: string | null
  /** Null: it is still worked on. */
  readonly over: OverState | null
  readonly outputFileId: string | null
  readonly errorFileId: string | null
  readonly completed: number
  readonly failed: number
  /** Provider's reports of a batch that failed as a whole. */
  readonly problems: ReadonlyArray<string>
}

const maxProblems = 10

const countOf = (value: Json | undefined): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0

const idOf = (value: Json | undefined): string | null =>
  typeof value === "string" && /^[\w.:-]{1,200}$/.test(value) ? value : null

const problemsOf = (errors: Json | undefined): ReadonlyArray<string> => {
  const data = isObject(errors) && isArray(errors["data"]) ? errors["data"] : []
  return data.slice(0, maxProblems).flatMap((each) => {
    const message = isObject(each) ? stringOr(each["message"]) : null
    return message === null || message === "" ? [] : [message]
  })
}

/** Null when it is none. */
export const remoteBatchOf = (body: Json | undefined): RemoteBatch | null => {
  const id = isObject(body) ? idOf(body["id"]) : null
  if (!isObject(body) || id === null || typeof body["status"] !== "string") return null
  const counts = isObject(body["request_counts"]) ? body["request_counts"] : {}
  return {
    id,
    inputFileId: idOf(body["input_file_id"]),
    over: overStates.find((state) => state === body["status"]) ?? null,
    outputFileId: idOf(body["output_file_id"]),
    errorFileId: idOf(body["error_file_id"]),
    completed: countOf(counts["completed"]),
    failed: countOf(counts["failed"]),
    problems: problemsOf(body["errors"])
  }
}

/** Reads the id of a file or a batch that was made. */
export const madeId = (body: Json | undefined): string | null => (isObject(body) ? idOf(body["id"]) : null)

/** The batches of a page. */
export const listedBatches = (body: Json | undefined): ReadonlyArray<RemoteBatch> =>
  (isObject(body) && isArray(body["data"]) ? body["data"] : []).flatMap((each) => remoteBatchOf(each) ?? [])

const chatPath = "/chat/completions"

/** Builds a path beside that of chats; null where chats have an address from which it does not follow. */
export const pathBeside = (chat: string, path: string): string | null => {
  const mark = chat.indexOf("?")
  const route = mark < 0 ? chat : chat.slice(0, mark)
  return route.endsWith(chatPath) ? route.slice(0, -chatPath.length) + path + (mark < 0 ? "" : chat.slice(mark)) : null
}

const customId = (line: number): string => `line-${line}`

/** A line of the file that a provider is given. Its id is the number of the line: those of callers may be anything. */
export const uploadLine = (line: number, endpoint: string, body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`{"custom_id":"${customId(line)}","method":"POST","url":${JSON.stringify(endpoint)},"body":`),
    body,
    Buffer.from("}\n")
  ])

/** Provider's result of a line. */
export type RemoteResult =
  | { readonly _tag: "Answered"; readonly line: number; readonly status: number; readonly body: JsonObject }
  | { readonly _tag: "NotAsked"; readonly line: number; readonly code: string; readonly message: string }

const maxMembers = 1_000
const maxMessageChars = 500
const maxCodeChars = 100

/** Null when it says nothing of a line. */
export const remoteResultOf = (bytes: Buffer): RemoteResult | null => {
  const read = readAnswerJson(bytes.toString("utf8"), maxMembers)
  if (read instanceof Unreadable || !isObject(read)) return null
  const number = /^line-([1-9]\d{0,9})$/.exec(stringOr(read["custom_id"]) ?? "")?.[1]
  if (number === undefined) return null
  const line = Number(number)
  const { error, response } = read
  if (isObject(response)) {
    const { body, status_code: status } = response
    const isStatus = typeof status === "number" && Number.isInteger(status) && status >= 100 && status < 600
    if (isStatus && isObject(body)) return { _tag: "Answered", line, status, body }
  }
  const told = isObject(error) ? error : {}
  return {
    _tag: "NotAsked",
    line,
    code: (stringOr(told["code"]) ?? "provider_error").slice(0, maxCodeChars),
    message: (stringOr(told["message"]) ?? "The provider has not answered the line.").slice(0, maxMessageChars)
  }
}
