/** `gateway setup-<tool>`. */
import { type CommandNode, type TreeNode, command, from, group } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"
import { setupTools } from "./SetupTools.ts"

const fromLaunch = from(() => import("./launch.ts"))
const fromAcp = from(() => import("../../acp/commands.ts"))
const fromSeveral = from(() => import("./several.ts"))

const launch = fromLaunch(
  "launch",
  "launchCommand",
  "Start a coding tool with this gateway; see tools, capture, setup-<tool>.",
  {
    section: "Use",
    skill: "cli-setup",
    prints: false,
    examples: ["launch claude", "launch codex -m openai/gpt-5", "launch claude --profile gpt -- -p 'Say hello'"]
  }
)

const launchCodex = fromLaunch(
  "launch-codex",
  "launchCodex",
  "Start Codex with this gateway; the same as 'launch codex'.",
  { section: "Use", skill: "cli-setup", hidden: true, prints: false, examples: ["launch-codex -m openai/gpt-5"] }
)

const tools = group(
  "tools",
  "Coding tools and agents on the gateway's machine.",
  [
    fromAcp("list", "toolsList", "List the tools: which are installed, and which use the gateway.", {
      ...list,
      examples: ["tools list", "tools list --json"]
    }),
    fromAcp("agents", "agentsList", "List the agents that other programs can start (ACP).", {
      examples: ["tools agents", "tools agents --json"]
    })
  ],
  {
    section: "Use",
    skill: "cli-setup",
    besides: true,
    otherwise: { name: "list", takesWords: false },
    examples: ["tools", "tools agents"]
  }
)

const setupAll = fromSeveral("setup-tools", "setupToolsCommand", "Set up the coding tools that are on this machine.", {
  section: "Start",
  skill: "cli-setup",
  besides: true,
  examples: ["setup tools", "setup-tools --yes --dry-run"]
})

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
