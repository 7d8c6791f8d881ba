/** Result of importing a foreign configuration: a document for `gateway apply`, and a report on each of its parts. Pure. */
import type { JsonObject } from "../../../wire/json/Json.ts"

/** One part of the foreign configuration. */
export interface Row {
  readonly what: string
  readonly result: "taken" | "changed" | "left out"
  /** Reason, as a sentence; empty for a part that was taken as it is. */
  readonly reason: string
}

export interface Imported {
  /** Document in the form of docs/apply.md. */
  readonly document: JsonObject
  readonly rows: ReadonlyArray<Row>
}

/** Facts of the gateway for which a reader reads. */
export interface ImportOptions {
  /** Ids of the providers by their ids and other names. */
  readonly providers: ReadonlyMap<string, string>
  /** True when keys in the text are taken as they are; else they are replaced by references. */
  readonly withSecrets: boolean
}

export const taken = (what: string): Row => ({ what, result: "taken", reason: "" })
export const changed = (what: string, reason: string): Row => ({ what, result: "changed", reason })
export const leftOut = (what: string, reason: string): Row => ({ what, result: "left out", reason })
