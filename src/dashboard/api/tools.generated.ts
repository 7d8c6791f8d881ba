/** Coding tools that `gateway setup-<tool>` sets up. Written by `bin/dashboardApi.mjs`: do not edit. */
export const tools = [
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
] as const
