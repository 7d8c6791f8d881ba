/** A provider node: an endpoint the operator added that speaks a known wire. Its `prefix` acts as a provider id. */
import * as Schema from "effect/Schema"
import type { SecretHeaders } from "../connections/entity.ts"
import type { MediaPaths } from "../../contract/domain/MediaKind.ts"
import type { WireName } from "../../contract/domain/Wire.ts"

export const ProviderNodeType = Schema.Literal(
  "openai-compatible",
  "anthropic-compatible",
  "gemini-compatible",
  "ollama-compatible",
  "claude-code-compatible"
)
export type ProviderNodeType = typeof ProviderNodeType.Type

export interface ProviderNodeSettings {
  readonly name: string
  readonly prefix: string
  readonly type: ProviderNodeType
  readonly baseUrl: string
  readonly wires: ReadonlyArray<WireName> | null
  readonly headers: SecretHeaders | null
  readonly chatPath: string | null
  readonly modelsPath: string | null
  /** Paths below the base URL, where they are not the usual ones. */
  readonly mediaPaths: MediaPaths | null
}

export interface ProviderNode extends ProviderNodeSettings {
  readonly id: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}
