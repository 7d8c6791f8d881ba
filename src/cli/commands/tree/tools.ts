/** `gateway setup-<tool>`. */
import { command, type CommandNode } from "../../tree/Tree.ts"

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

export const launch = command(
  "launch",
  "Start a coding tool with this gateway; setup-<tool> sets it up to stay.",
  () => import("../launch/launch.ts"),
  (m) => m.launchCommand,
  {
    section: "Use",
    prints: false,
    examples: ["launch claude", "launch codex -m openai/gpt-5", "launch claude --profile openai -- -p 'Say hello'"]
  }
)

export const launchCodex = command(
  "launch-codex",
  "Start Codex with this gateway; the same as 'launch codex'.",
  () => import("../launch/launch.ts"),
  (m) => m.launchCodex,
  { section: "Use", hidden: true, prints: false, examples: ["launch-codex -m openai/gpt-5"] }
)

export const setups: ReadonlyArray<CommandNode> = setupTools.map(([id, name]) =>
  command(
    `setup-${id}`,
    `Let ${name} use this gateway; --undo takes it back.`,
    () => import("../tools/all.ts"),
    (m) => m.setupCommand(id),
    {
      section: "Start",
      besides: true,
      examples: [`setup-${id} --dry-run`, `setup-${id}`, `setup-${id} --undo`]
    }
  )
)
