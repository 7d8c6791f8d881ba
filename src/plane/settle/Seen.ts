/** Bounds for a request and its answer, by the bytes that the gateway has sent and received. Pure. */
import type { MediaUnits } from "../../contract/domain/Usage.ts"
import type { ModelFacts } from "../providers/ModelFacts.ts"
import { isArray, isObject, type JsonObject, numberOr, stringOr } from "../../wire/json/Json.ts"
import { estimateTokens } from "../../observe/usage/Cost.ts"
import type { Usage } from "../../wire/canonical/Usage.ts"
import { fileOf } from "../../wire/media/Upload.ts"
import type { AnswerReport } from "../request/AnswerReport.ts"
import type { Work } from "../request/Exchange.ts"
import { promptTokens } from "../request/PromptTokens.ts"
import type { Seen } from "./Belief.ts"

export type OutputFacts = Pick<ModelFacts, "contextLength" | "maxOutputTokens" | "outputModalities" | "reasoning">

/** The largest window and the largest answer of models of which nothing is known. */
const usualWindow = 1_048_576
const usualOutput = 65_536
/** Reasoning that nothing but the answer itself speaks of. */
const onItsWord = 8_192
/** A provider's own tools read the prompt anew for each of their steps. */
const mostSteps = 8
/** Larger bodies that hold pictures are not taken for text. */
const mostPlainBytes = 65_536
/** Most tokens of a picture, of a second of sound or video, of a spoken character. */
const perPicture = 20_000
const perSecond = 100
const perCharacter = 50
/** Tokens that an answer in another form than text may have besides. */
const usualMedia = 4_096

/** Members that name what lies beyond the request. */
const elsewhere = [
  '"previous_response_id"',
  '"conversation"',
  '"prompt":{',
  '"file_id',
  '"file_uri"',
  '"fileUri"',
  '"file_data"',
  '"file_url"',
  '"image_url"',
  '"url"',
  '"cached_content"',
  '"cachedContent"',
  '"document_id"',
  '"assistant_id"'
].map((name) => Buffer.from(name))

/** Members and types of tools that the provider runs by itself. */
const hosted = [
  '"web_search',
  '"web_fetch',
  '"google_search',
  '"googleSearch',
  '"url_context',
  '"urlContext',
  '"file_search',
  '"fileSearch',
  '"code_interpreter',
  '"code_execution',
  '"codeExecution',
  '"computer',
  '"image_generation',
  '"tool_search',
  '"mcp',
  '"container"',
  '"plugins"',
  '"search_parameters"',
  '"data_sources"',
  '"vector_store'
].map((name) => Buffer.from(name))

/** Models that search by themselves. */
const searching = /search|sonar|online|deep-?research|compound/i

const names = (body: Buffer, all: ReadonlyArray<Buffer>): boolean => all.some((name) => body.includes(name))

/** Sound and pictures that the request asks for, by the members of the wires. */
const asksForMedia = ({ generationConfig, modalities }: JsonObject): boolean => {
  const requested = isObject(generationConfig) ? generationConfig["responseModalities"] : modalities
  return isArray(requested) && requested.some((one) => !/^text$/i.test(stringOr(one) ?? ""))
}

const answersMore = ({ outputModalities }: OutputFacts): boolean =>
  outputModalities !== null && outputModalities.some((one) => one !== "text")

/** Answers asked for; a legacy completion pays for those that are not shown as well. */
const answersOf = ({ envelope, parsed }: Work): number =>
  Math.max(1, envelope.candidates, Math.min(20, numberOr(parsed["best_of"]) ?? 1))

const unseenOut =
  (work: Work, model: string, facts: OutputFacts, report: AnswerReport) =>
  (reported: Usage): number => {
    const { body, envelope, parsed } = work
    const predicted = parsed["prediction"] === undefined ? 0 : body.length
    const thinks = facts.reasoning === true || envelope.wantsReasoning || report.reasoningChars > 0
    const hides = thinks || asksForMedia(parsed) || answersMore(facts) || searching.test(model) || names(body, hosted)
    // Of a model of which nothing is known but its own word, a little is believed.
    const mayHide = hides || (reported.reasoning > 0 && facts.reasoning === null)
    if (!mayHide) return predicted
    const most = Math.min(facts.maxOutputTokens ?? usualOutput, hides ? Number.POSITIVE_INFINITY : onItsWord)
    // Some count reasoning outside of what the client allows.
    const thought = Math.min(reported.reasoning, most)
    return Math.min(envelope.maxOutputTokens ?? most, work.outputCap ?? most) * answersOf(work) + thought + predicted
  }

/** A prompt that providers count once for each document. */
const repeated = ({ documents, query }: JsonObject): number =>
  isArray(documents) && typeof query === "string" ? documents.length * Buffer.byteLength(query) : 0

const seenOfMedia = (work: Work, report: AnswerReport, asked: MediaUnits): Pick<Seen, "textBytes" | "unseenOut"> => {
  const { exchange, parsed } = work
  const { characters = 0, images, seconds = 0 } = asked
  const files = (exchange.uploads?.length ?? 0) * perPicture
  // The body of a form is its fields: files are counted by what they hold.
  const text = exchange.uploads === undefined ? (report.sentBytes ?? work.body.length) : work.body.length
  return {
    textBytes: text + repeated(parsed) + files + seconds * perSecond,
    unseenOut: () => (images?.count ?? 0) * perPicture + seconds * perSecond + characters * perCharacter + usualMedia
  }
}
/** Bytes per second of the lowest rates of sound and video, where a file does not say how long it is. */
const leastBytesPerSecond = 2_000

const unitsOf = ({ asked, exchange }: Work): MediaUnits | null => {
  const units = exchange.codec.mediaUsage?.(asked).units ?? null
  const file = exchange.codec.endpoint === "transcriptions" ? fileOf(asked["file"]) : null
  if (units === null || file === null || file.seconds !== null) return units
  return { ...units, seconds: Math.max(units.seconds ?? 0, file.bytes / leastBytesPerSecond) }
}

/** Bounds for a line of a batch: small, because there may be many thousands of them. */
export interface LineBounds {
  readonly bytes: number
  readonly tokensElsewhere: number
  /** The provider has tools of its own to run. */
  readonly isHosted: boolean
  readonly maxOutputTokens: number | null
}

export const lineBounds = (body: JsonObject): LineBounds => {
  const bytes = Buffer.from(JSON.stringify(body))
  const isHosted = names(bytes, hosted)
  const limits = [body["max_completion_tokens"], body["max_output_tokens"], body["max_tokens"]].map(numberOr)
  return {
    bytes: bytes.length,
    tokensElsewhere: isHosted ? usualWindow * mostSteps : names(bytes, elsewhere) ? usualWindow : 0,
    isHosted,
    maxOutputTokens: limits.find((limit) => limit !== null) ?? null
  }
}

export const seenOfLine = (
  { bytes, isHosted, maxOutputTokens, tokensElsewhere }: LineBounds,
  { reasoningChars, textChars, toolArgChars }: AnswerChars
): Seen => ({
  textBytes: bytes,
  estimatedIn: () => estimateTokens(bytes, "json"),
  tokensElsewhere: () => tokensElsewhere,
  visibleChars: textChars + toolArgChars + reasoningChars,
  unseenOut: (reported) => {
    const hides = isHosted || reasoningChars > 0
    if (!hides && reported.reasoning === 0) return 0
    return Math.min(maxOutputTokens ?? usualOutput, hides ? usualOutput : onItsWord)
  },
  hasServerTools: () => isHosted,
  units: null
})

type AnswerChars = Pick<AnswerReport, "textChars" | "toolArgChars" | "reasoningChars">

/** Hot: measures a conversation and its answer without a look at either; null: it is no conversation. */
export const plainlySeen = (
  { body, envelope, exchange }: Work,
  report: AnswerReport
): Pick<Seen, "textBytes" | "visibleChars"> | null => {
  if (exchange.codec.endpoint !== undefined) return null
  const bytes = report.sentBytes ?? body.length
  return {
    textBytes: envelope.hasImages ? Math.min(bytes, mostPlainBytes) : bytes,
    visibleChars: report.textChars + report.toolArgChars + report.reasoningChars
  }
}

export const seenOf = (work: Work, model: string, facts: OutputFacts, report: AnswerReport): Seen => {
  const { body } = work
  const units = unitsOf(work)
  const common = {
    estimatedIn: () => promptTokens(work, model, work.textTokens ?? null),
    tokensElsewhere: () => {
      const window = facts.contextLength ?? usualWindow
      if (searching.test(model) || names(body, hosted)) return window * mostSteps
      return names(body, elsewhere) ? window : 0
    },
    visibleChars: report.textChars + report.toolArgChars + report.reasoningChars,
    hasServerTools: () => searching.test(model) || names(body, hosted),
    units
  }
  const plain = plainlySeen(work, report)
  return plain === null
    ? { ...common, ...seenOfMedia(work, report, units ?? {}) }
    : { ...common, ...plain, unseenOut: unseenOut(work, model, facts, report) }
}
