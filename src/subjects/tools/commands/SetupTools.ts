/**
 * Coding tools that have a command `gateway setup-<tool>`, as in `tools/config/tools`: the tree of commands must not load what they do. The
 * dashboard has them from here (`bin/dashboardApi.mjs`).
 */
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
