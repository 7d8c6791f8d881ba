/** Facts of a finished request for telemetry, and the cleaning of its strings. */
import type { AttemptRecord } from "../../../subjects/routing/entity.ts"
import type { UsageRow } from "../../../contract/domain/Usage.ts"

export interface RequestSummary {
  readonly row: UsageRow
  readonly method: string
  /** Normalised path of the request; its query and keys within it are removed before anything is written. */
  readonly path: string
  /** Calls to upstreams, in the order they were begun; missing where none was made. */
  readonly attempts?: ReadonlyArray<AttemptRecord>
  /**
   * Tells whether the row's model is one that the catalogue has; missing where no model was found. Asked once per
   * model.
   */
  readonly isListed?: () => boolean
  /** The client's `traceparent` as it came; missing or null where it sent none. */
  readonly traceparent?: string | null
  /** A key of the caller's session, which is no secret; missing or null where the request names none. */
  readonly sessionKey?: string | null
}

const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
const everyInvisible = new RegExp(invisible.source, "gu")

/**
 * Cuts a text to `most` characters, without control, formatting and line-separating ones: a value cannot forge a line.
 */
export const clean = (text: string, most = 200): string => {
  const short = text.length > most ? text.slice(0, most) : text
  return invisible.test(short) ? short.replace(everyInvisible, "") : short
}

/** Path segments that are keys: the token of `/api/v1/editor/{token}/…`, and anything that looks like a key of ours. */
const keyInPath = /(\/editor\/+)[^/]+|gw[rs]?_[^/]+/giu

/** The path alone, as it may be written: keys may travel in the query and in tokenised paths. */
export const pathOnly = (path: string): string => {
  const end = path.search(/[?#]/u)
  const bare = end === -1 ? path : path.slice(0, end)
  return clean(bare.replace(keyInPath, "$1***"))
}
