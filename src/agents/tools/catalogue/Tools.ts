/** The coding tools and agents that the gateway knows: what they are, and how they take the address of a gateway. */
import * as Schema from "effect/Schema"
import { decodeData } from "../../../kernel/DataFile.ts"
import catalogue from "./tools.yaml"

const Tool = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  /** Colour for pages that show it. */
  color: Schema.String,
  description: Schema.String,
  docsUrl: Schema.String,
  vendor: Schema.String,
  category: Schema.Literal("code", "agent"),
  /** True when other programs can start it as an agent (ACP). */
  acpSpawnable: Schema.Boolean,
  /** Support for another address; `none`: not without changing its traffic. */
  baseUrlSupport: Schema.Literal("full", "partial", "none"),
  /** Way in which it is configured. */
  configType: Schema.Literal("env", "custom", "guide", "custom-builder", "mitm"),
  /** Name of its program; null: it has none that can be found. */
  command: Schema.NullOr(Schema.String),
  /** The id of its `setup-<id>`; null: it has none. */
  setup: Schema.NullOr(Schema.String),
  /** Risks to know before it is used with a gateway; empty: none. */
  risks: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
})
export type Tool = typeof Tool.Type

export const tools: ReadonlyArray<Tool> = decodeData(Schema.Array(Tool))(catalogue)

export const toolNamed = (id: string): Tool | null => tools.find((tool) => tool.id === id) ?? null

/** An agent that speaks the Agent Client Protocol (https://agentclientprotocol.com) over its input and output. */
export interface AcpAgent {
  readonly id: string
  readonly name: string
  /** A command on the PATH, or an absolute path. */
  readonly binary: string
  readonly protocol: "stdio" | "http"
  readonly isCustom: boolean
}

const agent = (id: string, name: string, binary = id): AcpAgent => ({
  id,
  name,
  binary,
  protocol: "stdio",
  isCustom: false
})

export const acpAgents: ReadonlyArray<AcpAgent> = [
  agent("codex", "Codex CLI"),
  agent("claude", "Claude Code"),
  agent("goose", "goose"),
  agent("openclaw", "OpenClaw"),
  agent("aider", "aider"),
  agent("opencode", "opencode"),
  agent("cline", "Cline"),
  agent("qwen-code", "Qwen Code", "qwen"),
  agent("forge", "Forge"),
  agent("amazon-q", "Amazon Q", "q"),
  agent("interpreter", "Open Interpreter"),
  agent("cursor-cli", "Cursor CLI", "cursor"),
  agent("warp", "Warp")
]
