/**
 * The parsed parts of an error body that matter here: where providers put reset times and reasons. Only named places are read, so
 * that a prompt repeated by the upstream is never taken for its own words.
 */

type Fields = Readonly<Record<string, unknown>>

export interface ErrorBody {
  /** The objects that may carry wait fields, most specific first: `error`, the body, `error.metadata`. */
  readonly fields: ReadonlyArray<Fields>
  /** `error.details`, as Google fills it. */
  readonly details: ReadonlyArray<Fields>
  /** The words of a provider behind the provider, which some relays put into `metadata.raw`. */
  readonly raw: string
}

/** A longer body is not parsed; error bodies are read up to 64 KiB. */
const maxBodyChars = 65_536
const maxDetails = 16

const emptyBody: ErrorBody = { fields: [], details: [], raw: "" }

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Total: what is not a JSON object is an empty body. */
export const readErrorBody = (bodyText: string): ErrorBody => {
  if (bodyText.length > maxBodyChars) return emptyBody
  const value = parsed(bodyText)
  const body = Array.isArray(value) ? value[0] : value
  if (!isFields(body)) return emptyBody
  // Responses failures carry theirs one level down.
  const response = body["response"]
  const error = isFields(body["error"])
    ? body["error"]
    : isFields(response) && isFields(response["error"])
      ? response["error"]
      : body
  const metadata = error["metadata"]
  const details = Array.isArray(error["details"]) ? error["details"].slice(0, maxDetails).filter(isFields) : []
  const raw = isFields(metadata) && typeof metadata["raw"] === "string" ? metadata["raw"] : ""
  return { fields: isFields(metadata) ? [error, body, metadata] : [error, body], details, raw }
}

/** Text of a field that is a string or a number; empty otherwise. */
export const textOf = (fields: Fields, name: string): string => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === "string" ? value : typeof value === "number" && Number.isFinite(value) ? String(value) : ""
}

/** The object at a field; empty when there is none. */
export const objectOf = (fields: Fields, name: string): Fields => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return isFields(value) ? value : {}
}

const quotaIds = (detail: Fields): ReadonlyArray<string> => {
  const violations = detail["violations"]
  return Array.isArray(violations)
    ? violations
        .slice(0, maxDetails)
        .filter(isFields)
        .map((violation) => textOf(violation, "quotaId").slice(0, 256))
    : []
}

/** Ids of the Google quotas that were violated. */
export const violatedQuotas = (body: ErrorBody): ReadonlyArray<string> => body.details.flatMap(quotaIds)

/** `reason` words of Google's error details (`API_KEY_INVALID`, `SERVICE_DISABLED`). */
export const detailReasons = (body: ErrorBody): ReadonlyArray<string> =>
  body.details.map((detail) => textOf(detail, "reason").slice(0, 256)).filter((reason) => reason !== "")
