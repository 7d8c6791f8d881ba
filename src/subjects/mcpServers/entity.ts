/** A server of the Model Context Protocol that the owner registered: its tools are offered beside the gateway's own. */
import type * as Redacted from "effect/Redacted"
import type { SecretHeaders } from "../connections/entity.ts"

/** A program that is spoken to over its standard input and output. Its arguments and environment may hold secrets. */
export interface McpProgram {
  /** Absolute path. */
  readonly command: string
  readonly args: ReadonlyArray<Redacted.Redacted>
  readonly env: Readonly<Record<string, Redacted.Redacted>>
}

export interface McpServerSettings {
  /** Comes before the names of its tools: `<name>__<tool>`. Lower-case letters, digits and hyphens. */
  readonly name: string
  /** Address of its streamable HTTP endpoint; null: it is a program. */
  readonly url: string | null
  /** Headers sent with every request; null: none. */
  readonly headers: SecretHeaders | null
  /** Null: it has a URL. */
  readonly program: McpProgram | null
  /** Time limit of each request, in ms. */
  readonly timeoutMs: number
  readonly isEnabled: boolean
  /** Names of the tools that are offered, `*` in them for any text; null: all. */
  readonly allowedTools: ReadonlyArray<string> | null
  /** Ids of the API keys that may use it; null: every key with the scope. */
  readonly allowedKeys: ReadonlyArray<string> | null
}

export interface McpServer extends McpServerSettings {
  readonly id: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Separator between the name of a server and that of its tool. No name of a server holds it. */
export const toolSeparator = "__"
