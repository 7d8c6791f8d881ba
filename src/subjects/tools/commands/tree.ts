/** `gateway setup-<tool>`. */
import { command, type CommandNode, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"

/** Ids and names, as in `tools/config/tools`: the tree must not load what the commands do. */
export const setupTools: ReadonlyArray<readonly [id: string, name: string]> = [
  ["claude", "Claude Code"],
  ["codex", "Codex CLI"],
  ["opencode", "opencode"],
  ["cline", "Cline"],
  ["kilo", "Kilo Code"],
  ["continue", "Continue"],
  ["cursor", "Cursor"],
  ["roo", "Roo Code"],
  ["crush", "Crush"],
  ["goose", "goose"],
  ["qwen", "Qwen Code"],
  ["aider", "aider"],
  ["gemini", "Gemini CLI"],
  ["pi", "pi"],
  ["droid", "Factory Droid"],
  ["forge", "Forge"]
]

const launch = command(
  "launch",
  "Start a coding tool with this gateway; see tools, capture, setup-<tool>.",
  () => import("./launch.ts"),
  (m) => m.launchCommand,
  {
    section: "Use",
    skill: "cli-setup",
    prints: false,
    examples: ["launch claude", "launch codex -m openai/gpt-5", "launch claude --profile gpt -- -p 'Say hello'"]
  }
)

const launchCodex = command(
  "launch-codex",
  "Start Codex with this gateway; the same as 'launch codex'.",
  () => import("./launch.ts"),
  (m) => m.launchCodex,
  { section: "Use", skill: "cli-setup", hidden: true, prints: false, examples: ["launch-codex -m openai/gpt-5"] }
)

const tools = group(
  "tools",
  "Coding tools and agents on the gateway's machine.",
  [
    command(
      "list",
      "List the tools: which are installed, and which use the gateway.",
      () => import("../../acp/commands.ts"),
      (m) => m.toolsList,
      { ...list, examples: ["tools list", "tools list --json"] }
    ),
    command(
      "agents",
      "List the agents that other programs can start (ACP).",
      () => import("../../acp/commands.ts"),
      (m) => m.agentsList,
      { examples: ["tools agents", "tools agents --json"] }
    )
  ],
  {
    section: "Use",
    skill: "cli-setup",
    besides: true,
    otherwise: { name: "list", takesWords: false },
    examples: ["tools", "tools agents"]
  }
)

const setupAll = command(
  "setup-tools",
  "Set up the coding tools that are on this machine.",
  () => import("./several.ts"),
  (m) => m.setupToolsCommand,
  { section: "Start", skill: "cli-setup", besides: true, examples: ["setup tools", "setup-tools --yes --dry-run"] }
)

const setupEach: ReadonlyArray<CommandNode> = setupTools.map(([id, name]) =>
  command(
    `setup-${id}`,
    `Let ${name} use this gateway; --undo takes it back.`,
    () => import("./all.ts"),
    (m) => m.setupCommand(id),
    {
      section: "Start",
      skill: "cli-setup",
      besides: true,
      examples: [`setup-${id} --dry-run`, `setup-${id}`, `setup-${id} --undo`]
    }
  )
)

const setups: ReadonlyArray<CommandNode> = [setupAll, ...setupEach]

export const commands: ReadonlyArray<TreeNode> = [launch, tools, launchCodex, ...setups]
