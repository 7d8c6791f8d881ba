/**
 * The work on an exchange that takes time: decoding, masking and reading of its bodies. It runs in a thread (`bodyThread.mjs`) or, for small
 * bodies, between other events.
 */
import { isObject } from "../../wire/json/Json.ts"
import { type BodyLimits, type CapturedBody, decodeBody, type ShownBody, showBody, textOf } from "../Bodies.ts"
import type { DetectedKind } from "../../domain/TrafficRecord.ts"
import { parsePerhapsCut } from "../reading/Answer.ts"
import { contextKeyOf } from "../reading/ContextKey.ts"
import { formatOf } from "../reading/Format.ts"
import { detectKind } from "../reading/Kind.ts"
import { type AnswerFacts, answerFactsOf, type RequestFacts, requestFactsOf } from "../reading/Llm.ts"

export interface RequestTask {
  readonly host: string
  readonly path: string
  readonly userAgent: string
  readonly body: CapturedBody | null
}

export interface RequestReport {
  readonly shown: ShownBody | null
  readonly kind: DetectedKind
  readonly contextKey: string | null
  /** Null: no request to a model, or one that cannot be read. */
  readonly facts: RequestFacts | null
}

export interface ResponseTask {
  readonly path: string
  readonly provider: string | null
  readonly body: CapturedBody | null
  /** Null: those of the request in the same task. */
  readonly facts: RequestFacts | null
}

export interface ResponseReport {
  readonly shown: ShownBody | null
  readonly facts: AnswerFacts | null
}

export interface Task {
  readonly request: RequestTask | null
  readonly response: ResponseTask | null
  readonly limits: BodyLimits
}

export interface Report {
  readonly request: RequestReport | null
  readonly response: ResponseReport | null
}

const requestReport = async (task: RequestTask, limits: BodyLimits): Promise<RequestReport> => {
  const { body, host, path, userAgent } = task
  if (body === null) {
    return { shown: null, kind: detectKind({ host, path, userAgent, body: undefined }), contextKey: null, facts: null }
  }
  const decoded = await decodeBody(body, limits.maxDecodedBytes)
  const text = textOf(decoded)
  const parsed = text === null ? undefined : parsePerhapsCut(text, !decoded.isWhole)
  const kind = detectKind({ host, path, userAgent, body: parsed })
  const format = kind === "llm" ? formatOf(path, parsed) : null
  return {
    shown: showBody(decoded, text, body, limits),
    kind,
    contextKey: isObject(parsed) ? contextKeyOf(format?.body ?? parsed) : null,
    facts: format === null ? null : requestFactsOf(format)
  }
}

const responseReport = async (
  { body, path, provider }: ResponseTask,
  facts: RequestFacts | null,
  limits: BodyLimits
): Promise<ResponseReport> => {
  if (body === null) return { shown: null, facts: facts === null ? null : answerFactsOf(facts, path, provider, null) }
  const decoded = await decodeBody(body, limits.maxDecodedBytes)
  const text = textOf(decoded)
  const answer = text === null ? null : { text, contentType: body.contentType, isCut: !decoded.isWhole }
  return {
    shown: showBody(decoded, text, body, limits),
    facts: facts === null ? null : answerFactsOf(facts, path, provider, answer)
  }
}

export const perform = async ({ limits, request, response }: Task): Promise<Report> => {
  const asked = request === null ? null : await requestReport(request, limits)
  const answered =
    response === null ? null : await responseReport(response, response.facts ?? asked?.facts ?? null, limits)
  return { request: asked, response: answered }
}

/** Bytes of the bodies in a task. */
export const bytesOfTask = ({ request, response }: Task): number =>
  (request?.body?.bytes.byteLength ?? 0) + (response?.body?.bytes.byteLength ?? 0)
