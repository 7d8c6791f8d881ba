/** What a foreign configuration becomes: a document for `gateway apply`, and what was done with each of its parts. Pure. */
import type { JsonObject } from "../../wire/json/Json.ts"

/** One part of the foreign configuration. */
export interface Row {
  readonly what: string
  readonly result: "taken" | "changed" | "left out"
  /** Why, as a sentence; empty for what was taken as it is. */
  readonly reason: string
}

export interface Imported {
  /** In the form of docs/apply.md. */
  readonly document: JsonObject
  readonly rows: ReadonlyArray<Row>
}

/** What a reader has to know of the gateway that it reads for. */
export interface ImportOptions {
  /** Ids of the providers by their ids and other names. */
  readonly providers: ReadonlyMap<string, string>
  /** Whether keys that stand in the text are taken as they are; else they are replaced by references. */
  readonly withSecrets: boolean
}

export const taken = (what: string): Row => ({ what, result: "taken", reason: "" })
export const changed = (what: string, reason: string): Row => ({ what, result: "changed", reason })
export const leftOut = (what: string, reason: string): Row => ({ what, result: "left out", reason })
