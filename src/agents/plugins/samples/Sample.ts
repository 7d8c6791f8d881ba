/** A plugin that comes with the gateway, as the marketplace offers it. */
import type { JsonObject } from "../../../wire/json/Json.ts"

export interface Sample {
  readonly manifest: JsonObject & {
    readonly name: string
    readonly version: string
    readonly description: string
    readonly requires?: { readonly permissions: ReadonlyArray<string> }
  }
  readonly files: Readonly<Record<string, string>>
  /** Hash of its files, so that the installed ones are the reviewed ones. */
  readonly integrity: string
}
