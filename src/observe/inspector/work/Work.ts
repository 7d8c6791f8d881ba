/**
 * The work on an exchange that takes time: decoding, masking and reading of its bodies. It runs in a thread (`bodyThread.mjs`) or, for small
 * bodies, between other events.
 */
import { isObject } from "../../../wire/json/Json.ts"
import { type BodyLimits, type CapturedBody, decodeBody, type ShownBody, showBody, textOf } from "../Bodies.ts"
import type { DetectedKind } from "../../../contract/domain/TrafficRecord.ts"
import { parsePerhapsCut } from "../reading/Answer.ts"
import { contextKeyOf } from "../reading/ContextKey.ts"
import { type Format, formatOf } from "../reading/Format.ts"
import { promptKeyOf } from "../reading/PromptKey.ts"
import { detectKind } from "../reading/Kind.ts"
import { reasonOf } from "../reading/Reason.ts"
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
  /** Null: no request to a model, or not all of it is known. */
  readonly promptKey: string | null
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
  /** The message of an answer that is an error, as it is shown. */
  readonly reason: string | null
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

/** The request, parsed; and whether its text holds no secret, so that what is shown says the same. */
interface ParsedRequest {
  readonly report: RequestReport
  readonly clean: Format | null
}

const requestReport = async (task: RequestTask, limits: BodyLimits): Promise<ParsedRequest> => {
  const { body, host, path, userAgent } = task
  if (body === null) {
    const kind = detectKind({ host, path, userAgent, body: undefined })
    return { report: { shown: null, kind, contextKey: null, promptKey: null, facts: null }, clean: null }
  }
  const decoded = await decodeBody(body, limits.maxDecodedBytes)
  const text = textOf(decoded)
  const parsed = text === null ? undefined : parsePerhapsCut(text, !decoded.isWhole)
  const kind = detectKind({ host, path, userAgent, body: parsed })
  const format = kind === "llm" ? formatOf(path, parsed) : null
  const shown = showBody(decoded, text, body, limits)
  return {
    report: {
      shown,
      kind,
      contextKey: isObject(parsed) ? contextKeyOf(format?.body ?? parsed) : null,
      promptKey: format === null || !decoded.isWhole ? null : promptKeyOf(format),
      facts: format === null ? null : requestFactsOf(format)
    },
    clean: limits.maskSecrets && decoded.isWhole && shown.bytes.equals(decoded.bytes) ? format : null
  }
}

const responseReport = async (
  { body, path, provider }: ResponseTask,
  facts: RequestFacts | null,
  limits: BodyLimits
): Promise<ResponseReport> => {
  if (body === null)
    return { shown: null, reason: null, facts: facts === null ? null : answerFactsOf(facts, path, provider, null) }
  const decoded = await decodeBody(body, limits.maxDecodedBytes)
  const text = textOf(decoded)
  const answer = text === null ? null : { text, contentType: body.contentType, isCut: !decoded.isWhole }
  const shown = showBody(decoded, text, body, limits)
  return {
    shown,
    // Of what is shown, in which secrets are masked.
    reason: shown.encoding === "utf8" && shown.bytes.length <= 65_536 ? reasonOf(shown.bytes.toString("utf8")) : null,
    facts: facts === null ? null : answerFactsOf(facts, path, provider, answer)
  }
}

/** `clean`: the parsed request, where nothing of it had to be masked. */
export const readExchange = async ({
  limits,
  request,
  response
}: Task): Promise<{ readonly report: Report; readonly clean: Format | null }> => {
  const asked = request === null ? null : await requestReport(request, limits)
  const facts = response?.facts ?? asked?.report.facts ?? null
  const answered = response === null ? null : await responseReport(response, facts, limits)
  return { report: { request: asked?.report ?? null, response: answered }, clean: asked?.clean ?? null }
}

export const perform = async (task: Task): Promise<Report> => (await readExchange(task)).report

/** Bytes of the bodies in a task. */
export const bytesOfTask = ({ request, response }: Task): number =>
  (request?.body?.bytes.byteLength ?? 0) + (response?.body?.bytes.byteLength ?? 0)
