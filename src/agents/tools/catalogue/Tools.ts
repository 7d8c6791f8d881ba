/** The coding tools and agents that the gateway knows: what they are, and how they take the address of a gateway. */

export interface Tool {
  readonly id: string
  readonly name: string
  /** Colour for pages that show it. */
  readonly color: string
  readonly description: string
  readonly docsUrl: string
  readonly vendor: string
  readonly category: "code" | "agent"
  /** True when other programs can start it as an agent (ACP). */
  readonly acpSpawnable: boolean
  /** Support for another address; `none`: not without changing its traffic. */
  readonly baseUrlSupport: "full" | "partial" | "none"
  /** Way in which it is configured. */
  readonly configType: "env" | "custom" | "guide" | "custom-builder" | "mitm"
  /** Name of its program; null: it has none that can be found. */
  readonly command: string | null
  /** The id of its `setup-<id>`; null: it has none. */
  readonly setup: string | null
  /** Risks to know before it is used with a gateway; empty: none. */
  readonly risks: ReadonlyArray<string>
}

type Row = readonly [
  id: string,
  name: string,
  vendor: string,
  color: string,
  category: Tool["category"],
  baseUrlSupport: Tool["baseUrlSupport"],
  configType: Tool["configType"],
  acpSpawnable: boolean,
  command: string | null,
  setup: string | null,
  docsUrl: string,
  description: string,
  ...risks: ReadonlyArray<string>
]

const inEditor = "Its key is kept by the editor and not in a file."
const ownServers = "Its own servers ask the gateway, which must be reachable for them."

const rows: ReadonlyArray<Row> = [
  [
    "claude",
    "Claude Code",
    "Anthropic",
    "#d97757",
    "code",
    "full",
    "env",
    true,
    "claude",
    "claude",
    "https://docs.anthropic.com/en/docs/claude-code",
    "Coding agent in the terminal."
  ],
  [
    "codex",
    "Codex CLI",
    "OpenAI",
    "#10a37f",
    "code",
    "full",
    "custom",
    true,
    "codex",
    "codex",
    "https://developers.openai.com/codex/cli",
    "Coding agent in the terminal."
  ],
  [
    "droid",
    "Factory Droid",
    "Factory",
    "#ef6f2e",
    "code",
    "partial",
    "custom",
    false,
    "droid",
    "droid",
    "https://docs.factory.ai/cli/byok/overview",
    "Coding agent in the terminal.",
    "It needs an account of its vendor besides."
  ],
  [
    "openclaw",
    "OpenClaw",
    "OpenClaw",
    "#e5484d",
    "agent",
    "full",
    "custom",
    true,
    "openclaw",
    null,
    "https://docs.openclaw.ai",
    "Personal agent that runs on its own."
  ],
  [
    "cline",
    "Cline",
    "Cline",
    "#5b6ee1",
    "code",
    "full",
    "custom",
    true,
    "cline",
    "cline",
    "https://docs.cline.bot",
    "Coding agent in the terminal and in editors.",
    inEditor
  ],
  [
    "kilo",
    "Kilo Code",
    "Kilo",
    "#f5c518",
    "code",
    "full",
    "custom",
    false,
    "kilo",
    "kilo",
    "https://kilo.ai/docs",
    "Coding agent in the terminal and in editors.",
    inEditor
  ],
  [
    "continue",
    "Continue",
    "Continue",
    "#8b5cf6",
    "code",
    "full",
    "guide",
    false,
    "cn",
    "continue",
    "https://docs.continue.dev",
    "Assistant in editors and in the terminal."
  ],
  [
    "copilot",
    "GitHub Copilot",
    "GitHub",
    "#24292f",
    "code",
    "full",
    "custom",
    false,
    null,
    null,
    "https://code.visualstudio.com/docs/copilot/language-models",
    "Assistant in VS Code.",
    inEditor
  ],
  [
    "opencode",
    "opencode",
    "SST",
    "#cfcecd",
    "code",
    "full",
    "guide",
    true,
    "opencode",
    "opencode",
    "https://opencode.ai/docs",
    "Coding agent in the terminal."
  ],
  [
    "qwen",
    "Qwen Code",
    "Alibaba",
    "#615ced",
    "code",
    "full",
    "guide",
    true,
    "qwen",
    "qwen",
    "https://qwenlm.github.io/qwen-code-docs",
    "Coding agent in the terminal."
  ],
  [
    "gemini",
    "Gemini CLI",
    "Google",
    "#4285f4",
    "code",
    "full",
    "env",
    false,
    "gemini",
    "gemini",
    "https://github.com/google-gemini/gemini-cli",
    "Coding agent in the terminal."
  ],
  [
    "aider",
    "aider",
    "Aider AI",
    "#14b014",
    "code",
    "full",
    "guide",
    true,
    "aider",
    "aider",
    "https://aider.chat/docs",
    "Pair programming in the terminal."
  ],
  [
    "forge",
    "Forge",
    "Antinomy",
    "#fbbf24",
    "code",
    "full",
    "custom",
    true,
    "forge",
    "forge",
    "https://forgecode.dev/docs",
    "Coding agent in the terminal."
  ],
  [
    "crush",
    "Crush",
    "Charm",
    "#ff60ff",
    "code",
    "full",
    "custom",
    false,
    "crush",
    "crush",
    "https://github.com/charmbracelet/crush",
    "Coding agent in the terminal."
  ],
  [
    "jcode",
    "jcode",
    "jcode",
    "#64748b",
    "code",
    "full",
    "custom",
    false,
    "jcode",
    null,
    "https://github.com/1jehuang/jcode",
    "Coding agent in the terminal."
  ],
  [
    "smelt",
    "Smelt",
    "Smelt",
    "#64748b",
    "code",
    "full",
    "custom",
    false,
    "smelt",
    null,
    "https://github.com/leonardcser/smelt",
    "Coding agent in the terminal."
  ],
  [
    "pi",
    "pi",
    "Mario Zechner",
    "#0ea5e9",
    "code",
    "full",
    "custom",
    false,
    "pi",
    "pi",
    "https://github.com/badlogic/pi-mono",
    "Coding agent in the terminal."
  ],
  [
    "deepseek-tui",
    "DeepSeek TUI",
    "DeepSeek TUI",
    "#4d6bfe",
    "code",
    "full",
    "custom",
    false,
    "deepseek-tui",
    null,
    "https://github.com/Hmbown/DeepSeek-TUI",
    "Coding agent in the terminal."
  ],
  [
    "cursor-cli",
    "Cursor CLI",
    "Anysphere",
    "#000000",
    "code",
    "partial",
    "guide",
    true,
    "cursor-agent",
    null,
    "https://docs.cursor.com/en/cli",
    "Coding agent in the terminal.",
    ownServers
  ],
  [
    "roo",
    "Roo Code",
    "Roo Code",
    "#7c3aed",
    "code",
    "full",
    "guide",
    false,
    null,
    "roo",
    "https://docs.roocode.com",
    "Coding agent in VS Code.",
    inEditor
  ],
  [
    "hermes-agent",
    "Hermes Agent",
    "Nous Research",
    "#facc15",
    "agent",
    "full",
    "custom",
    false,
    "hermes",
    null,
    "https://hermes-agent.nousresearch.com/docs",
    "Personal agent that runs on its own."
  ],
  [
    "goose",
    "goose",
    "Block",
    "#101010",
    "agent",
    "full",
    "guide",
    true,
    "goose",
    "goose",
    "https://block.github.io/goose/docs",
    "Agent on the desktop and in the terminal.",
    "Its keyring is not used once it is set up."
  ],
  [
    "interpreter",
    "Open Interpreter",
    "Open Interpreter",
    "#111827",
    "agent",
    "full",
    "guide",
    true,
    "interpreter",
    null,
    "https://docs.openinterpreter.com",
    "Runs code that a model writes."
  ],
  [
    "warp",
    "Warp",
    "Warp",
    "#01a4ff",
    "agent",
    "partial",
    "guide",
    true,
    "warp",
    null,
    "https://docs.warp.dev",
    "Terminal with an agent.",
    ownServers
  ],
  [
    "agent-deck",
    "Agent Deck",
    "Agent Deck",
    "#64748b",
    "agent",
    "full",
    "guide",
    false,
    "agent-deck",
    null,
    "https://github.com/asheshgoplani/agent-deck",
    "Runs several agents side by side."
  ],
  [
    "custom",
    "Another tool",
    "",
    "#94a3b8",
    "code",
    "full",
    "custom-builder",
    false,
    null,
    null,
    "https://platform.openai.com/docs/api-reference",
    "Anything that speaks OpenAI's or Anthropic's API."
  ],
  [
    "cursor",
    "Cursor",
    "Anysphere",
    "#000000",
    "code",
    "none",
    "guide",
    false,
    "cursor",
    "cursor",
    "https://docs.cursor.com/settings/api-keys",
    "Editor with an assistant.",
    ownServers
  ],
  [
    "antigravity",
    "Antigravity",
    "Google",
    "#4285f4",
    "code",
    "none",
    "mitm",
    false,
    "antigravity",
    null,
    "https://antigravity.google/docs",
    "Editor with agents.",
    "It takes no other address."
  ],
  [
    "kiro",
    "Kiro",
    "AWS",
    "#9046ff",
    "code",
    "none",
    "mitm",
    false,
    "kiro",
    null,
    "https://kiro.dev/docs",
    "Editor with agents.",
    "It takes no other address."
  ],
  [
    "hermes",
    "Hermes",
    "Nous Research",
    "#facc15",
    "code",
    "none",
    "guide",
    false,
    null,
    null,
    "https://hermes-agent.nousresearch.com/docs",
    "Older name of Hermes Agent."
  ]
]

export const tools: ReadonlyArray<Tool> = rows.map(
  ([
    id,
    name,
    vendor,
    color,
    category,
    baseUrlSupport,
    configType,
    acpSpawnable,
    command,
    setup,
    docsUrl,
    description,
    ...risks
  ]) => ({
    id,
    name,
    color,
    description,
    docsUrl,
    vendor,
    category,
    acpSpawnable,
    baseUrlSupport,
    configType,
    command,
    setup,
    risks
  })
)

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
