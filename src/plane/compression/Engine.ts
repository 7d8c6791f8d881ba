/** Interface of an engine: it makes texts of a request smaller, one by one, and the same text always the same way. */

import type { PipelineEngine } from "../../subjects/compression/entity/CompressionProfiles.ts"

export type EngineName = PipelineEngine

export type Role = "system" | "user" | "assistant" | "tool"

/** A text of a request that an engine may make smaller. */
export interface Block {
  readonly kind: "text" | "tool-result"
  readonly role: Role
  readonly text: string
  /** Called tool of a result. `command`: the command line it ran; null: none, or not known. */
  readonly tool: { readonly name: string; readonly command: string | null } | null
  /** Reference to an earlier turn with the same result word for word; null: there is none. */
  readonly repeat: string | null
  /** The client has marked the result as that of a call that failed. */
  readonly isError: boolean
}

/** Functions of the gateway that engines need. */
export interface EngineTools {
  /** Keeps a text that is cut, and returns the id to ask for it; null: it is not kept. */
  readonly keep: (raw: string) => string | null
}

export interface Engine {
  readonly name: EngineName
  /** Null: the text stays as it is. */
  readonly compress: (block: Block, tools: EngineTools) => string | null
}
