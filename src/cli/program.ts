/** The whole tree: the commands, and those that are about the tree. */
import { commands } from "./nouns.ts"
import { type GroupNode, command, from, group } from "./tree/Tree.ts"

const fromCompletion = from(() => import("./commands/completion.ts"))
const fromVersion = from(() => import("./commands/version.ts"))

export const program: GroupNode = group(
  "gateway",
  "Self-hosted gateway between AI clients and AI providers: one address, one key, every wire format.",
  [
    ...commands,
    fromCompletion("completion", "completionCommand", "Print a completion script for bash, zsh or fish.", {
      section: "More",
      skill: "cli-setup",
      besides: true,
      prints: false,
      aliases: ["completions"],
      examples: ["completion bash > ~/.local/share/bash-completion/completions/gateway"]
    }),
    command(
      "complete",
      "What fits at the end of a command line.",
      () => import("./commands/complete.ts"),
      (m) => m.makeComplete(program),
      { hidden: true, prints: false }
    ),
    command(
      "help",
      "Explain a command.",
      () => import("./commands/help.ts"),
      (m) => m.makeHelp(program),
      {
        section: "More",
        skill: "cli-setup",
        besides: true,
        prints: false,
        examples: ["help", "help provider add"]
      }
    ),
    fromVersion("version", "versionCommand", "Print the version.", {
      section: "More",
      skill: "cli-health",
      besides: true,
      examples: ["version", "version --json"]
    })
  ],
  {
    otherwise: { name: "serve", takesWords: false },
    examples: ["provider add openai", "chat 'Say hello'"]
  }
)
